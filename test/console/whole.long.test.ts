import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { numberOf, numbersOf, people } from '../e2e/a-job.js';
import { Client } from '../sandbox/sandbox-client.js';
import { fieldOf, openAConsole, serviceOf, textOf } from './a-console.js';

const TIMEOUT_MS = 120_000;
const LOST = '4915123456789';
const PEOPLE = `${people(3)}Dora,${LOST}\nEve,n/a\n`;

describe('a campaign of several runs', { timeout: TIMEOUT_MS }, () => {
  const console = openAConsole({ VOLLEY_API_KEY: 'sandbox-test-key-not-a-secret' });

  async function aChecked(name: string, change: (job: string) => string = (job) => job) {
    await console.aCampaign(name, PEOPLE, 'SG');
    console.changeJob(name, change);
    await console.check(name);
  }

  const send = async (name: string, count: number) => textOf(await console.send(name, count));

  /** Corrects a cell of the page, and checks it with the same press. */
  async function fix(name: string, cell: string, [was, text]: readonly [was: string, text: string]) {
    const form = await console.fixFormOf(name);
    return console.post(`/c/${name}/fix/check`, { ...form, [`cell-${cell}`]: text, [`was-cell-${cell}`]: was });
  }

  async function runsOf(name: string): Promise<string[]> {
    const { text } = await console.ask(`/c/${name}/run`);
    return [...text.matchAll(/\/run\?run=(\w+)"/g)].map(([, run = '']) => run);
  }

  test('has one report, each row once, that leads to each run; home and the task list say the same', async () => {
    await aChecked('fixed');
    const first = await send('fixed', 3);
    expect(first).toContain('Of 5 rows read, 3 were accepted');
    expect(first).not.toContain('Runs');
    expect((await fix('fixed', '1-1', ['n/a', '+65 91'])).status).toBe(422);
    expect((await fix('fixed', '1-1', ['n/a', '+65 9100 0005'])).to).toBe('/c/fixed/check');
    // Checked, and not sent: it has taken nothing yet.
    await console.checked('fixed');
    expect(await console.textAt('/c/fixed/run')).toContain('Of 5 rows read, 3 were accepted');
    const whole = await send('fixed', 1);
    expect(whole).toContain('the service accepted 4 messages');
    expect(whole).toContain('Of 5 rows read, 4 were accepted');
    expect(whole).toContain('Fix 1 row that could not be used');
    expect(whole).toMatch(/Runs 2 runs;.* the whole list .* 5 3 1 corrected row .* 1 1 Files/);
    expect(await console.textAt('/c/fixed')).toContain('Send 4 messages accepted of 5 rows');
    expect(await console.textAt('/')).toContain('fixed 4 messages accepted of 5 rows');
    expect(await console.textAt('/c/fixed/check')).toContain('This was sent, or is being sent: see how it went');
    expect(await console.textAt('/c/fixed/check')).not.toContain('There is nothing to send');

    const [one = '', two = ''] = await runsOf('fixed');
    expect(await console.textAt(`/c/fixed/run?run=${two}`)).toMatch(/The whole campaign .* 1 message.*Of 1 row read/);
    const report = await console.ask(`/c/fixed/run?run=${one}`);
    expect(textOf(report)).toContain('Of 5 rows read, 3 were accepted');
    // What the second run sent is not left any more.
    expect(textOf(report)).toContain('Fix 1 row that could not be used');
    expect((await console.ask(`/c/fixed/out/1-sms.results.csv?run=${one}`)).text.trim().split('\n')).toHaveLength(4);
    expect((await console.ask('/c/fixed/out/campaign.html')).text).toContain('4 of 5 rows accepted');
    expect((await console.ask('/c/fixed/run?run=nothing')).status).toBe(200);
    expect((await console.ask('/c/fixed/out/campaign.html?run=nothing')).status).toBe(404);

    await console.post('/c/fixed/fix/put', {
      plan: fieldOf(await console.ask('/c/fixed/fix'), 'plan'),
      code: 'lost-plus',
    });
    await console.post('/c/fixed/fix/check');
    const last = await send('fixed', 1);
    expect(last).toContain('Of 5 rows read, 5 were accepted. Every row is accounted for.');
    expect(last).not.toMatch(/What is left|Fix /);
    expect(console.sent('fixed')).toEqual([`+${LOST}`, ...numbersOf(3), numberOf(5)]);
  });

  test('what an earlier run holds back is sent by its own page, once', async () => {
    await aChecked('sample', (job) =>
      job.replace('destination:', 'ramp: [{ share: 34%, ask: true }]\n    destination:'),
    );
    expect(await send('sample', 2)).toContain('Type 1 to send the rest');
    await fix('sample', '1-1', ['n/a', '+65 9100 0005']);
    await console.checked('sample');
    expect(await send('sample', 1)).toContain('Send the rest of an earlier run : 1 row not sent yet.');
    const [one = ''] = await runsOf('sample');
    const page = await console.ask(`/c/sample/run?run=${one}`);
    const form = { run: one, stage: fieldOf(page, 'stage') };
    expect((await console.post('/c/sample/go-on', { ...form, count: '2' })).status).toBe(422);
    expect((await console.post('/c/sample/go-on', { ...form, run: 'another', count: '1' })).to).toBe('/c/sample/run');
    const press = () => console.post('/c/sample/go-on', { ...form, count: '1' });
    await Promise.all([press(), press()]);
    const whole = textOf(await console.ended('sample'));
    expect(whole).toContain('Of 5 rows read, 4 were accepted');
    expect(whole).not.toContain('Send the rest');
    expect(console.sent('sample')).toEqual([...numbersOf(3), numberOf(5)]);
  });

  test('a run whose process died before its report was written is no stopped one: going on writes it', async () => {
    await aChecked('died');
    await send('died', 3);
    const out = join(console.directory, 'campaigns/died/out/died');
    for (const run of readdirSync(out).filter((name) => name.startsWith('2'))) rmSync(join(out, run, 'summary.json'));
    expect(await console.textAt('/c/died/run')).toMatch(
      /Sent The run is finished: 3 accepted.* Its report is not written yet\./,
    );
    await console.post('/c/died/go-on');
    expect(textOf(await console.ended('died'))).toContain('Of 5 rows read, 3 were accepted');
    expect(console.sent('died')).toEqual(numbersOf(3));
  });

  test('that a character makes each message longer is said where the number is typed', async () => {
    await aChecked('sofa', (job) => job.replace(/text: .*/, `text: "🛋 ${'x'.repeat(80)}"`));
    expect(await console.textAt('/c/sofa/check')).toMatch(
      /6 SMS parts\..* Special characters: .* doubles the parts, 6 instead of 3\./,
    );
  });

  test('what the service holds of each run is taken back by itself, by who types the number', async () => {
    const sandbox = await startSandbox({ rateLimits: {} });
    const at = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
    await aChecked('later', (job) =>
      job
        .replace('sandbox: true', serviceOf(sandbox))
        .replace('template:', `template:\n      scheduled: { at: "${at}", timeZone: UTC }`),
    );
    await send('later', 3);
    await fix('later', '1-1', ['n/a', '+65 9100 0005']);
    expect(await send('later', 1)).toMatch(/Take back 3 messages.*Take back 1 message/);
    const [one = ''] = await runsOf('later');
    expect(await console.textAt(`/c/later/take-back?run=${one}`)).toContain('The service holds 3 messages until');
    const form = { run: one, count: '3' };
    expect((await console.post('/c/later/take-back', { ...form, count: '2' })).status).toBe(422);
    expect((await console.post('/c/later/take-back', { ...form, run: 'another' })).status).toBe(409);
    const press = () => console.post('/c/later/take-back', form);
    expect((await Promise.all([press(), press()])).map(({ status }) => status)).toEqual([303, 303]);
    await console.until('/c/later/take-back');
    expect(await console.textAt('/c/later/take-back')).toContain('3 messages taken back.');
    expect((await press()).to).toBe('/c/later/take-back');
    const whole = await console.textAt('/c/later/run');
    for (const said of ['Plan the 3 that were not sent', 'Take back 1 message']) expect(whole).toContain(said);

    // They are planned as the campaign says now, also where such a plan was never sent.
    const change = (message: string) => console.save('/c/later/message', { sender: 'LADEN', message });
    const plan = async () => {
      await console.post('/c/later/retry', { run: one, only: 'not-sent' });
      return textOf(await console.checked('later'));
    };
    await change('Second, {{ name }}');
    expect(await plan()).toContain('Second, P1');
    await change('Third, {{ name }}');
    const day = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
    await console.save('/c/later/when', { when: 'at', day, time: '10:00', zone: 'UTC' });
    expect(textOf(await console.check('later'))).toContain('All rows of this file are in a run already.');
    expect(await console.textAt('/c/later/run')).toContain('Plan the 3 that were not sent');
    expect(await plan()).toContain('Third, P1');
    const end = await send('later', 3);
    expect(end).toContain('Of 5 rows read, 4 were accepted');
    // They leave at two times.
    expect(end).not.toMatch(/messages are scheduled|Plan the/);
    const texts = (await new Client(sandbox).entries('sms')).filter((each) => each.cancelledAt === null);
    expect(texts.map((each) => each.text).sort()).toEqual(['Hi Eve, later!', 'Third, P1', 'Third, P2', 'Third, P3']);
    await sandbox.close();
  });

  test('on the page of what could not be used, what is refused again has its new reason', async () => {
    await console.aCampaign('again', `${people(3)}Dora,6.59123E+09\nEve,n/a\n`, 'SG');
    await console.check('again');
    const page = await console.ask('/c/again/fix');
    expect(textOf(page)).toContain(
      'A spreadsheet shortened this number to 6.59123E+09, and its last digits are lost. ',
    );
    expect(textOf(page)).not.toContain('export');
    const { text } = await console.post('/c/again/fix', {
      ...(await console.fixFormOf('again')),
      ...{ 'cell-1-1': '+65 91', 'was-cell-1-1': 'n/a' },
    });
    const [, row = ''] = /(<tr><th scope="row">6<.*?<\/tr>)/s.exec(text) ?? [];
    expect(textOf({ text: `<main>${row}` })).toBe('6 mobile The number has too few digits for Singapore. name: Eve');
    expect(row).toMatch(/aria-invalid="true" aria-describedby="cell-1-1-fault"/);
  });
});
