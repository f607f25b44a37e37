import { describe, expect, test, vi } from 'vitest';
import { SuppressionColumns } from '../../src/plan/suppress/suppression-columns.js';
import { numberOf, people } from '../e2e/a-job.js';
import { openAConsole, textOf } from './a-console.js';

const TIMEOUT_MS = 120_000;

describe('of several people at once', { timeout: TIMEOUT_MS }, () => {
  const console = openAConsole();

  test('each is shown the list of campaigns, and the pages of one that has just changed', async () => {
    for (const name of ['one', 'two']) await console.aCampaign(name, people(2));
    const pages = ['/', '/?find=one', '/c/one', '/c/one/message', '/c/one/who', '/c/one/columns', '/c/one/fix'];
    for (let at = 0; at < 5; at++) {
      await console.save('/c/one/message', { sender: 'LADEN', message: `Text ${at}` });
      const answers = await Promise.all([...pages, ...pages, ...pages].map((path) => console.ask(path)));
      expect(answers.map(({ status }) => status).filter((status) => status >= 400)).toEqual([]);
    }
  });

  test('who save a message, whom it goes to, or when it leaves, one does, and the others are shown that', async () => {
    await console.aCampaign('edited', people(2));
    const { sha256 } = await console.formOf('/c/edited/message');
    const texts = ['First', 'Second', 'Third'];
    const forms = texts.map((message) => ['message', { sha256, sender: 'LADEN', message }] as const);
    const answers = await Promise.all(forms.map(([page, fields]) => console.post(`/c/edited/${page}`, fields)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409, 409]);
    const saved = texts[answers.findIndex(({ status }) => status === 303)] ?? '';
    expect(console.jobOf('edited')).toContain(saved);
    for (const answer of answers)
      if (answer.status === 409) expect(textOf(answer)).toContain(`It now says: “${saved}”`);

    const now = await console.formOf('/c/edited/message');
    const others = await Promise.all([
      console.post('/c/edited/message', { ...now, sender: 'LADEN', message: 'Fourth' }),
      console.post('/c/edited/who', { ...now, '["name","P1"]': 'on' }),
      console.post('/c/edited/when', { ...now, when: 'now', sample: '10%' }),
    ]);
    expect(others.map(({ status }) => status).sort()).toEqual([303, 409, 409]);
  });

  test('who begin a campaign of one name, each has one of their own', async () => {
    const made = await Promise.all(['Sale', 'sale', 'SALE'].map((name) => console.post('/new', { name })));
    expect(made.map(({ to }) => to).sort()).toEqual(['/c/sale-2/file', '/c/sale-3/file', '/c/sale/file']);
  });

  test('who choose a file, one after the other does', async () => {
    await console.post('/new', { name: 'Files' });
    const paths = [1, 2, 3, 4].map((at) => console.write(`people-${at}.csv`, people(2, at)));
    const chosen = await Promise.all(paths.map((path) => console.post('/c/files/file', { path })));
    expect(chosen.map(({ to }) => to)).toEqual(Array(4).fill('/c/files/columns'));
  });

  test('a form that is pressed twice is saved once, and no one is said to have changed it meanwhile', async () => {
    await console.aCampaign('twice', people(2));
    const form = await console.formOf('/c/twice/message');
    const press = (message: string) => console.post('/c/twice/message', { ...form, sender: 'LADEN', message });
    const presses = await Promise.all([press('Once'), press('Once')]);
    expect(presses.map(({ to }) => to)).toEqual(Array(2).fill('/c/twice/message#messages'));
    expect((await press('Once')).status).toBe(303);
    expect((await console.textAt('/c/twice')).match(/wrote the message/g)).toHaveLength(2);

    const list = `mobile\n${'+6591000001'}\n`;
    const who = await console.formOf('/c/twice/who');
    const upload = () => console.upload('/c/twice/who', 'stop.csv', list, who);
    expect((await Promise.all([upload(), upload()])).map(({ status }) => status)).toEqual([303, 303]);
    expect(console.jobOf('twice').match(/lists\/stop\.csv/g)).toHaveLength(1);
    const next = { ...(await console.formOf('/c/twice/who')), 'list-0': 'on' };
    await console.upload('/c/twice/who', 'stop.csv', 'mobile\n+6591000002\n', next);
    expect(console.jobOf('twice')).toMatch(/lists\/stop\.csv[\s\S]*lists\/stop-2\.csv/);
    expect(console.read('campaigns/twice/lists/stop.csv')).toBe(list);

    const other = await console.formOf('/c/twice/message');
    await console.save('/c/twice/message', { sender: 'LADEN', message: 'Theirs' });
    expect((await press('Once')).status).toBe(409);
    expect((await console.post('/c/twice/message', { ...other, sender: 'LADEN', message: 'Mine' })).status).toBe(409);
  });

  test('a suppression list is read once for all pages of all of them, until it changes', async () => {
    await console.aCampaign('listed', people(3));
    const list = (...numbers: number[]) => `mobile\n${numbers.map((each) => `${numberOf(each)}\n`).join('')}`;
    await console.save('/c/listed/who', { path: console.write('stop.csv', list(1)) });
    const add = vi.spyOn(SuppressionColumns.prototype, 'add');
    for (const page of ['who', 'when', 'message', 'test', 'who'])
      expect((await console.ask(`/c/listed/${page}`)).status).toBe(200);
    expect(add).not.toHaveBeenCalled();
    console.write('stop.csv', list(1, 2, 99));
    expect(await console.textAt('/c/listed/who')).toContain('3 read in column mobile · 2 found');
    expect(add).toHaveBeenCalledTimes(3);
    add.mockRestore();
  });
});
