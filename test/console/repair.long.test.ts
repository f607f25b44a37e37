import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TEST_CREDENTIALS } from '../../src/sandbox/admission.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import { numberOf, numbersOf, people } from '../e2e/a-job.js';
import { until } from '../e2e/command.js';
import { runCommandInProcess } from '../e2e/command-in-process.js';
import { AConsole, destinationsIn, expectSaid, fieldOf, openAConsole, serviceOf, textOf } from './a-console.js';

const TIMEOUT_MS = 120_000;

describe('what is left of a run', { timeout: TIMEOUT_MS }, () => {
  const console = openAConsole({ VOLLEY_API_KEY: TEST_CREDENTIALS.apiKey });
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await startSandbox({ rateLimits: {} });
  });
  afterEach(() => sandbox.close());

  /** A campaign that sends to this sandbox, as to the service. */
  async function aLive(name: string): Promise<void> {
    await console.aCampaign(name, people(3));
    console.changeJob(name, (job) => job.replace('sandbox: true', serviceOf(sandbox)));
    await console.check(name);
    await console.send(name, 3);
  }

  test('messages in doubt are decided by who types their number, once, and stand first among the campaigns', async () => {
    sandbox.setFaults([{ kind: 'reset-after', area: 'sms', nth: 1 }]);
    await aLive('doubt');
    expect(await console.textAt('/')).toContain('Needs you doubt 3 messages in doubt: they may have arrived');
    expect(await console.textAt('/c/doubt/run')).toContain('Settle 3 messages in doubt');
    const page = await console.ask('/c/doubt/doubt');
    expect(textOf(page)).toContain('3 messages: sent, no answer came. They may have arrived.');
    const run = fieldOf(page, 'run');
    const decide = (fields: Record<string, string>) =>
      console.post('/c/doubt/doubt', { run, assume: 'sent', ...fields });
    expectSaid(await decide({ count: '2' }), 422, 'Type 3 to decide');
    expect((await decide({ count: '3', run: 'another' })).status).toBe(409);
    const foreign = await console.upload('/c/doubt/doubt/export', 'export.csv', 'a,b\n1,2\n', { run });
    expect(foreign.to).toBe('/c/doubt/doubt');
    await console.until('/c/doubt/doubt');
    expect(await console.textAt('/c/doubt/doubt')).toMatch(/There is a problem .*export-export\.csv/);
    const both = await Promise.all([decide({ count: '3' }), decide({ count: '3' })]);
    expect(both.map(({ status }) => status)).toEqual([303, 303]);
    await console.until('/c/doubt/doubt');
    expect((await console.ask('/c/doubt/doubt')).to).toBe('/c/doubt/run');
    expect(await console.textAt('/c/doubt/run')).toContain('Every row is accounted for.');
    expect(await destinationsIn(sandbox)).toEqual(numbersOf(3));
  });

  test('of a process that died they are decided once Go on has found out which they are', async () => {
    const own = new AConsole({ VOLLEY_API_KEY: TEST_CREDENTIALS.apiKey });
    await own.startProcess();
    await own.enter();
    await own.aCampaign('died', people(3));
    own.changeJob('died', (job) => job.replace('sandbox: true', serviceOf(sandbox)));
    sandbox.setFaults([{ kind: 'stall', area: 'sms' }]);
    const { plan } = await own.check('died');
    await own.post('/c/died/send', { plan, count: '3' });
    await until(() => [...sandbox.readRequests()].length > 0);
    process.kill(JSON.parse(own.read('.console/died/apply.json')).pid, 'SIGKILL');
    await own.ended('died');
    const decide = async () => {
      const { text } = await own.ask('/c/died/doubt');
      await own.post('/c/died/doubt', { run: fieldOf({ text }, 'run'), assume: 'sent', count: '3' });
      await own.until('/c/died/doubt');
      return own.textAt('/c/died/doubt');
    };
    expect(await decide()).toContain('Press “Go on” on the page of the run first');
    expect(await own.textAt('/c/died/run')).toContain('Going on writes it, and sends nothing. Go on');
    await own.post('/c/died/go-on');
    expect(textOf(await own.ended('died'))).not.toContain('Going on');
    expect(await own.textAt('/c/died/doubt')).toMatch(/^In doubt 3 messages: (?!.*There is a problem)/);
    await decide();
    expect(await own.textAt('/c/died/run')).toContain('Of 3 rows read, 3 were accepted. Every row is accounted for.');
    await own.end();
  });

  test('those that are counted as not sent are planned, and sent once their number is typed', async () => {
    sandbox.setFaults([{ kind: 'reset-before', area: 'sms', nth: 1 }]);
    await aLive('lost');
    sandbox.setFaults([]);
    const page = await console.ask('/c/lost/doubt');
    const run = fieldOf(page, 'run');
    await console.post('/c/lost/doubt', { run, assume: 'not-sent', count: '3' });
    await console.until('/c/lost/doubt');
    const report = await console.ask('/c/lost/run');
    expect(textOf(report)).toContain('Plan the 3 that were not sent');
    await console.post('/c/lost/retry', { run: fieldOf(report, 'run'), only: 'not-sent' });
    await console.send('lost', 3);
    expect(await destinationsIn(sandbox)).toEqual(numbersOf(3));
  });

  test('what a run that stopped has not sent is planned anew, as the campaign says now', async () => {
    await console.aCampaign('typo', people(10));
    const all = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`["name","P${at + 1}"]`, 'on']));
    await console.save('/c/typo/who', all);
    await console.save('/c/typo/when', { when: 'now', sample: '20' });
    await console.check('typo');
    const sample = await console.send('typo', 2);
    expect(textOf(sample)).toMatch(/Type 8 to send the rest .* Plan the rest anew/);
    expect(await console.textAt('/c/typo/run')).not.toContain('was changed');
    await console.save('/c/typo/message', { sender: 'LADEN', message: 'Corrected, {{ name }}' });
    expect(await console.textAt('/c/typo/run')).toMatch(
      /The campaign was changed since: “Text” at Message\. The rest goes as it was checked\. Type 8 to send the rest/,
    );
    await console.save('/c/typo/who', { '["name","P1"]': 'on' });
    expect(await console.textAt('/c/typo/run')).toContain('“Text” at Message, “Who gets it” at Who. The rest goes');
    await console.save('/c/typo/who', all);
    await console.post('/c/typo/retry', { run: fieldOf(sample, 'run'), only: 'unprocessed' });
    expect(textOf(await console.checked('typo'))).toMatch(/8 people .*Corrected, P\d/);
    const end = textOf(await console.send('typo', 8));
    expect(end).toContain('Of 10 rows read, 10 were accepted. The run was abandoned');
    expect(end).not.toContain('What is left');
    expect(console.sent('typo')).toEqual(numbersOf(10));
  });

  test('a run that was given up in a terminal waits for no one, and what it did not send can be planned', async () => {
    await console.aCampaign('given', people(5));
    await console.save('/c/given/when', { when: 'now', sample: '20' });
    await console.check('given');
    const run = fieldOf(await console.send('given', 1), 'run');
    expect(await console.textAt('/')).toContain('given the sample is sent, 4 messages wait for you');
    const cwd = join(console.directory, 'campaigns/given');
    const name = readdirSync(join(cwd, 'out/given')).find((each) => each.endsWith(run));
    const before = Date.now();
    await runCommandInProcess(['abandon', `out/given/${name}`], { cwd, env: {} });
    const { endedAt } = JSON.parse(console.read(`campaigns/given/out/given/${name}/summary.json`));
    expect(Date.parse(endedAt)).toBeLessThan(before);
    expect(await console.textAt('/')).toMatch(/Done .*given 1 message accepted of 5 rows/);
    expect(await console.textAt('/c/given')).toContain('The run is let go: 1 accepted, 4 not sent.');
    const page = await console.textAt('/c/given/run');
    expect(page).toMatch(/^Report .* The run was abandoned .* What is left Plan the 4 that were not sent/);
    expect(page).not.toContain('Type 4');
    await console.post('/c/given/retry', { run, only: 'unprocessed' });
    expect(textOf(await console.send('given', 4))).not.toContain('What is left');
    expect(console.sent('given')).toEqual(numbersOf(5));
  });

  test('its file stays where another of that name is uploaded, and so it is resumed', async () => {
    await console.aCampaign('export', people(1));
    const upload = (rows: number) => console.upload('/c/export/file', 'people.csv', people(rows));
    await upload(10);
    await console.save('/c/export/when', { when: 'now', sample: '20' });
    await console.check('export');
    const sample = await console.send('export', 2);
    await upload(12);
    expect(await console.textAt('/c/export/file')).toContain('Chosen: people-2.csv .');
    await console.post('/c/export/go-on', { stage: fieldOf(sample, 'stage'), count: '8' });
    expect(textOf(await console.ended('export'))).toContain('Of 10 rows read, 10 were accepted');
    expect(textOf(await console.check('export'))).toContain('2 people');
    expect(readdirSync(join(console.directory, 'campaigns/export/files'))).toEqual(['people-2.csv', 'people.csv']);
    expect((await console.upload('/c/export/file', 'people.csv', 'name,mobile\n')).status).toBe(422);
    expect(readdirSync(join(console.directory, 'campaigns/export/files'))).toEqual(['people-2.csv', 'people.csv']);
  });

  test('of which all are opted out since leaves nothing to plan, and the check counts no one', async () => {
    await console.aCampaign('none', people(5, 50));
    await console.save('/c/none/when', { when: 'now', sample: '20' });
    await console.check('none');
    const sample = await console.send('none', 1);
    for (const number of numbersOf(5, 50)) await console.post('/people/opt', { number, what: 'out' });
    await console.post('/c/none/retry', { run: fieldOf(sample, 'run'), only: 'unprocessed' });
    expect(textOf(await console.checked('none'))).toMatch(/^Check There is nothing to send\. 1 had it already, from /);
  });

  test('who had the text is left out, and gets it again only by a plan whose number is typed', async () => {
    await console.aCampaign('again', people(3));
    await console.check('again');
    await console.send('again', 3);
    await console.post('/c/again/file', { path: console.write('more.csv', people(4)) });
    await console.check('again');
    const report = await console.send('again', 1);
    expect(textOf(report)).toMatch(
      /3 had exactly this text already, and were left out\. Plan these 3 all the same .* from job again on \d+ \w+ 20\d\d: skipped/,
    );
    await console.post('/c/again/retry', { run: fieldOf(report, 'run'), only: 'had-it-already' });
    expect(textOf(await console.checked('again'))).toContain(': sent again.');
    await console.send('again', 3);
    expect(console.sent('again')).toEqual([...numbersOf(3), ...numbersOf(3), numberOf(4)].sort());
  });
});
