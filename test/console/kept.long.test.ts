import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { nodeFiles } from '../../src/storage/files.js';
import { people } from '../e2e/a-job.js';
import { expectSaid, fieldOf, openAConsole, textOf } from './a-console.js';

const TIMEOUT_MS = 120_000;

describe('what a person typed', { timeout: TIMEOUT_MS }, () => {
  const console = openAConsole();

  test('stands on the page that refuses it, but for a number that is typed to confirm', async () => {
    await console.aCampaign('typed', people(2));
    const at = '/c/typed';
    expect((await console.post(`${at}/file`, { path: '/nowhere.csv' })).text).toContain('value="/nowhere.csv"');
    const who = await console.save(`${at}/who`, { path: '/nowhere.csv' });
    expect([who.status, who.text]).toEqual([422, expect.stringContaining('value="/nowhere.csv"')]);
    const tested = await console.post(`${at}/test`, { to: 'me', row: 'longest' });
    for (const said of ['value="me"', '<option value="longest" selected>']) expect(tested.text).toContain(said);
    const { plan } = await console.check('typed');
    expect((await console.post(`${at}/send`, { plan, count: '77' })).text).not.toContain('value="77"');
  });

  test('lists that are no longer ticked are not ticked on the page that refuses the rest', async () => {
    await console.aCampaign('lists', people(2));
    const list = console.write('stop.csv', 'mobile\n+6591000001\n');
    await console.save('/c/lists/who', { path: list });
    expect((await console.save('/c/lists/who', { path: '/nowhere.csv' })).text).toMatch(/name="list-0">/);
    const kept = await console.save('/c/lists/who', { path: '/nowhere.csv', 'list-0': 'on' });
    expect(kept.text).toMatch(/name="list-0" checked>/);
  });

  test.each([
    ['message', { sender: 'LADEN', message: 'Mine' }, 409],
    ['who', { '["name","P1"]': 'on' }, 409],
    ['when', { when: 'now', sample: '50%' }, 409],
    ['columns', { destination: 'mobile', country: 'SG' }, 303],
  ])('in an editor stays, where the form of %s is saved at that moment', async (page, fields, status) => {
    const name = `edited-${page}`;
    await console.aCampaign(name, people(2));
    const form = await console.formOf(`/c/${name}/message`);
    const path = join(console.directory, 'campaigns', name, 'job.yaml');
    const { readText } = nodeFiles;
    let isEdited = false;
    const read = vi.spyOn(nodeFiles, 'readText').mockImplementation(async (of) => {
      const text = await readText(of);
      if (of === path && !isEdited) {
        isEdited = true;
        appendFileSync(path, '# by hand\n');
      }
      return text;
    });
    onTestFinished(() => read.mockRestore());
    const answer = await console.post(`/c/${name}/${page}`, { ...form, ...fields });
    expect([answer.status, console.jobOf(name)]).toEqual([status, expect.stringContaining('# by hand\n')]);
  });

  test('in an editor that has written half of it stays, where a column is chosen at that moment', async () => {
    await console.aCampaign('half', people(2));
    const before = console.jobOf('half');
    const path = join(console.directory, 'campaigns', 'half', 'job.yaml');
    const { readText } = nodeFiles;
    let reads = 0;
    const read = vi
      .spyOn(nodeFiles, 'readText')
      .mockImplementation(async (of) => (of === path && ++reads > 1 ? '' : readText(of)));
    onTestFinished(() => read.mockRestore());
    const answer = await console.post('/c/half/columns', { destination: 'mobile', country: 'SG' });
    expect([answer.status, textOf(answer)]).toEqual([409, expect.stringContaining('Load the page again')]);
    expect(console.jobOf('half')).toBe(before);
  });

  test('is shown, and what is missing is named, where the file of people is not there any more', async () => {
    await console.aCampaign('gone', people(2));
    rmSync(join(console.directory, 'gone.csv'));
    for (const page of ['columns', 'message', 'who'])
      expectSaid(await console.ask(`/c/gone/${page}`), 422, 'gone.csv: there is no such file');
    const message = await console.post('/c/gone/message', { sender: 'LADEN', message: 'Mine' });
    expect([message.status, message.text]).toEqual([409, expect.stringContaining('Mine')]);
    expect(await console.textAt('/c/gone/columns')).toContain('Or a file on this machine');
    console.changeJob('gone', () => 'name: [\n');
    const run = await console.ask('/c/gone/run');
    expect([run.status, run.text]).toEqual([409, expect.stringContaining('<a href="/c/gone">')]);
  });

  test('a file that has other rows since is checked again by a button, before it is sent and after', async () => {
    await console.aCampaign('grown', people(2));
    const button = async () =>
      /<form method="post" action="\/c\/grown\/check">/.test((await console.ask('/c/grown/check')).text);
    await console.check('grown');
    expect(await button()).toBe(true);
    appendFileSync(join(console.directory, 'grown.csv'), 'P3,+6591000003\n');
    const page = await console.ask('/c/grown/check');
    await console.post('/c/grown/send', { plan: fieldOf(page, 'plan'), count: '2' });
    expectSaid(
      await console.ended('grown').then(() => console.ask('/c/grown/check')),
      422,
      'changed since the plan was made',
    );
    expect(await button()).toBe(true);
    expect(textOf(await console.check('grown'))).toContain('3 people');
    await console.send('grown', 3);
    expect(await button()).toBe(true);
  });
});
