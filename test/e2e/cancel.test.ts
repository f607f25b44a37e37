import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { anSmsStep, aStepForTomorrow, numbersOf, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { readOutput } from './account.js';
import { readCommands } from './command.js';

const aScheduledJob = (file = people(30), ...faults: Parameters<Workspace['setFaults']>) =>
  aJobFor(file, { steps: [aStepForTomorrow()] }, ...faults);

/** Thirty messages in batches of ten, accepted by the service for a time tomorrow. */
async function aScheduledRun(file?: string) {
  const workspace = await aScheduledJob(file);
  const { code, summary } = await workspace.run();
  expect([code, summary.balance.accepted]).toEqual([summary.balance.rejected, 30]);
  return { workspace, summary, cancel: () => workspace.told('cancel', summary.directory) };
}

/** The messages that the service took back, or those that still wait there. */
const messages = async (workspace: Workspace, isTakenBack: boolean) =>
  (await workspace.sms()).filter(({ cancelledAt }) => (cancelledAt !== null) === isTakenBack);
const numbers = async (workspace: Workspace, isTakenBack: boolean) =>
  (await messages(workspace, isTakenBack)).map(({ destination }) => destination);

test('a scheduled run is taken back: its rows are cancelled, and a retry under a corrected job sends each once', async () => {
  const { workspace, summary, cancel } = await aScheduledRun();

  const all = { state: 'cancelled', exitCode: 0, batches: 3, cancelled: 30, kept: 0, inDoubt: 0 };
  expect(await workspace.told('cancel', 'job.yaml')).toMatchObject(all);

  expect(await numbers(workspace, true)).toEqual(numbersOf(30));
  expect(readOutput(summary, 1, 'unprocessed').map(({ _code }) => _code)).toEqual(Array(30).fill('cancelled'));
  expect((await workspace.volley('status', 'job.yaml')).code).toBe(0);

  workspace.change({}, 'corrected.yaml');
  const applied = await workspace.resend(summary.directory, 'not-sent', '--job', 'corrected.yaml');
  expect([applied.code, applied.summary.balance.accepted]).toEqual([0, 30]);
  expect(await numbers(workspace, false)).toEqual(numbersOf(30));
  expect(await cancel()).toMatchObject({ exitCode: 0, batches: 0 });
});

test('after a cancel its account, a run and the page say when messages were taken back, and the whole command that sends them', async () => {
  const { workspace, summary } = await aScheduledRun();
  const when = /30 (messages|messages of (it|run \w+) were|rows) taken back on \d+ \w+ \d{4} at \d\d:\d\d UTC/;
  const retry = `retry out/sale/${basename(summary.directory)} --only not-sent --job job.yaml\n`;

  const cancelled = await workspace.volley('cancel', 'job.yaml', '--no-json');
  expect(cancelled.stdout).toMatch(when);
  expect(cancelled.stdout).toContain(retry);

  const idle = await workspace.run('--no-json');
  expect([idle.code, idle.stdout.split('\n')[1]]).toEqual([0, expect.stringMatching(when)]);
  expect(idle.stdout).toContain(retry);
  expect(idle.stdout).not.toContain('--again');
  expect(readFileSync(join(summary.directory, 'report.html'), 'utf8')).toMatch(/30 rows taken back on \d+ \w+/);

  // Once another plan has them, nothing is left to send, until that is taken back as well.
  const { directory } = (await workspace.resend(summary.directory, 'not-sent')).summary;
  expect((await workspace.run('--no-json')).stdout).not.toContain('taken back');
  await workspace.told('cancel', directory);
  const again = await workspace.run('--no-json');
  expect(again.stdout).toMatch(when);
  expect(again.stdout).toContain(`retry out/sale/${basename(directory)} --only not-sent --job job.yaml\n`);
});

test('where a job is changed while the service holds its messages, run says how they are taken back and sent anew: each gets one', async () => {
  const { workspace, summary } = await aScheduledRun();
  expect((await workspace.run('--no-json')).stdout).toContain('--again');
  const template = { source: 'ACME', text: 'Dear {{ name }}', scheduled: summary.steps[0]?.scheduled?.at };
  workspace.change({ steps: [anSmsStep({ template })] });

  let account = (await workspace.run('--no-json')).stdout;
  expect(account).toMatch(/with another template\.text: the service holds 30 messages until /);
  const given: (string | undefined)[] = [];
  for (let round = 0; round < 3; round++) {
    const [command = []] = readCommands(account.slice(account.indexOf('Next: '))).map((words) => words.slice(2));
    given.push(command[0]);
    if (account.replace(/\s+/g, ' ').includes('with --job and a job file of the same steps added'))
      command.push('--job', 'job.yaml');
    account = (await workspace.volley(...command, '--no-json')).stdout;
  }
  expect(given).toEqual(['cancel', 'retry', 'apply']);
  expect(await numbers(workspace, false)).toEqual(numbersOf(30));
  expect(new Set((await messages(workspace, false)).map(({ text }) => text.slice(0, 4)))).toEqual(new Set(['Dear']));
});

test('a plan for people to whom the service holds another message of the job warns of it, with the command that takes it back', async () => {
  const { workspace, summary } = await aScheduledRun();
  const warning =
    /of run (\w+) the service holds 30 messages until [^:]+:\d\d [^:]+: `node .+ cancel \S+` takes them back/;
  const plan = async () => (await workspace.volley('plan', 'job.yaml', '--log-format', 'pretty')).stderr;
  workspace.write('people.csv', people(1, 301));
  expect(await plan()).not.toMatch(warning);

  workspace.write('people.csv', people(31).replace('P1,', 'Paula,'));
  expect(warning.exec(await plan())?.[1]).toBe(summary.plan);
  await workspace.told('cancel', summary.directory);
  expect(await plan()).not.toMatch(warning);
});

test('of a job the newest run is taken back: where the service holds messages of others, cancel says so and which command takes them back', async () => {
  const { workspace, summary: first } = await aScheduledRun();
  workspace.write('people.csv', people(5, 101));
  const { directory } = (await workspace.run()).summary;

  const others = new RegExp(
    `Of run ${first.plan} the service holds 30 messages until \\d+ \\w+ \\d{4} at .* cancel (\\S+)`,
  );
  const [, run = ''] = others.exec(await workspace.said('cancel', 'job.yaml')) ?? [];
  expect(await numbers(workspace, true)).toEqual(numbersOf(5, 101));
  expect(await workspace.told('cancel', directory)).toMatchObject({ others: [{ run: first.plan, messages: 30 }] });

  // So it does where the newest has nothing that waits.
  workspace.change();
  workspace.write('people.csv', people(1, 201));
  await workspace.run();
  const refused = await workspace.refused('cancel', 'job.yaml');
  expect([refused.exitCode, refused.error.hint]).toEqual([2, expect.stringMatching(others)]);

  expect(await workspace.told('cancel', run)).toMatchObject({ cancelled: 30, others: [] });
});

test('of messages that wait for several times the first and the last are said', async () => {
  const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  const steps = [2, 1].map((days) =>
    anSmsStep({ template: { source: 'ACME', text: `{{ name }} ${days}`, scheduled: at(days) } }),
  );
  const workspace = await aJobFor(people(2), { steps });
  const { plan } = (await workspace.run()).summary;
  workspace.change();
  workspace.write('people.csv', people(1, 101));
  await workspace.run();
  const { error } = await workspace.refused('cancel', 'job.yaml');
  const said =
    / the service holds 4 messages, the first of them until (\d+ \w+ \d+) at [^,]+, the last until (\d+ \w+ \d+) at /;
  const [, first = '', last = ''] = said.exec(error.hint ?? '') ?? [];
  expect([error.hint?.startsWith(`Of run ${plan} `), Date.parse(last) - Date.parse(first)]).toEqual([true, 86_400_000]);
});

test('of a run that is not at its end cancel says how many rows the next run sends, and what lets it go', async () => {
  const workspace = await aScheduledJob(people(30), { kind: 'status-401', nth: 2 });
  const { directory } = (await workspace.run()).summary;
  const said = await workspace.said('cancel', 'job.yaml');
  expect(said).toMatch(/10 messages taken back .* 20 rows of it are sent once it is resumed.* abandon out/);
  expect(await workspace.told('cancel', directory)).toMatchObject({ toSend: 20 });

  expect((await workspace.volley('abandon', directory)).code).toBe(0);
  expect(await workspace.told('cancel', directory)).toMatchObject({ toSend: 0 });
  expect((await workspace.told('run', 'job.yaml')).state).toBe('nothing-new');
  expect(await numbers(workspace, false)).toEqual([]);
});

test('of a run that stopped and was let go abandon names what the service holds, prune leaves it, and cancel takes it back', async () => {
  const workspace = await aScheduledJob(people(30), { kind: 'status-401', nth: 2 });
  const { directory } = (await workspace.run()).summary;

  const said = await workspace.said('abandon', directory);
  expect(said).toMatch(/the service holds 10 messages until.* cancel out\/sale\/\S+ /);
  const prune = ['prune', 'job.yaml', '--older-than', '0h'];
  const skipped = [{ reason: expect.stringMatching(/^the service holds 10 messages until /) }];
  expect(await workspace.told(...prune)).toMatchObject({ pruned: [], skipped });

  expect(await workspace.told('cancel', directory)).toMatchObject({ exitCode: 0, cancelled: 10 });
  expect(await numbers(workspace, false)).toEqual([]);
  expect(await workspace.told(...prune)).toMatchObject({ pruned: [{ directory }] });
});

test('three batches in a row without an answer end the cancel: the others can still be taken back by another one', async () => {
  const workspace = await aScheduledJob(people(50));
  const { directory } = (await workspace.run()).summary;
  workspace.setFaults({ kind: 'status-502', area: 'sms' });

  const first = await workspace.volley('cancel', directory, '--no-json', '--log-format', 'pretty');

  expect(first).toMatchObject({ code: 3, stdout: expect.stringContaining('20 messages not taken back') });
  expect(first.stdout).toContain('30 messages in doubt');
  expect(first.stdout).toMatch(/Next: the same command asks for the rest[\s\S]* cancel \S+\n$/);
  expect(first.stderr).toContain('The same command asks for the rest.');
  expect(first.stderr).not.toContain('Nothing was done');
  workspace.setFaults();
  expect(await workspace.told('cancel', directory)).toMatchObject({ cancelled: 20, kept: 0, inDoubt: 30 });
  expect(await numbers(workspace, true)).toHaveLength(20);
  const status = await workspace.said('status', directory);
  expect(status).toMatch(/Once .* has passed, get the message export of that day/);
});

test('a key that is refused ends the cancel at once; what was not taken back stays accepted: exit 4', async () => {
  const { workspace, summary } = await aScheduledRun();
  workspace.setFaults({ kind: 'status-401', area: 'sms', nth: 2 });

  const { code, stdout, stderr } = await workspace.volley('cancel', summary.directory);

  expect([code, JSON.parse(stdout)]).toMatchObject([
    4,
    {
      ...{ plan: summary.plan, state: 'stopped', exitCode: 4, error: { code: 'unauthorized' } },
      ...{ batches: 2, cancelled: 10, kept: 20, inDoubt: 0, balance: { accepted: 20, unprocessed: 10 } },
    },
  ]);
  expect(stderr).toContain('Cannot cancel an SMS batch');
  expect(await numbers(workspace, true)).toEqual(numbersOf(10));
  expect(readOutput(summary, 1, 'results').map(({ _destination }) => _destination)).toEqual(numbersOf(20, 11));
});

test('messages that no cancel can take back are counted: those in doubt, and those whose batch is not known', async () => {
  const workspace = await aScheduledJob(people(30), { kind: 'reset-after', nth: 2 });
  const { directory } = (await workspace.run()).summary;

  expect(await workspace.told('cancel', directory)).toMatchObject({ exitCode: 3, cancelled: 20, kept: 0, inDoubt: 10 });
  const early = await workspace.settle(directory, 'sent', 10);
  expect([early.code, early.stderr]).toEqual([2, expect.stringContaining('may wait at the service until')]);
  const rows = (await messages(workspace, false)).map((each) =>
    [each.umid, 'acme_hq', 'sent', each.destination, each.clientMessageId].join(),
  );
  workspace.write('export.csv', ['umid,subaccountid,status_value,msisdn,clientmessageid', ...rows, ''].join('\n'));
  expect((await workspace.volley('settle', directory, '--export', 'export.csv')).code).toBe(0);
  const second = await workspace.volley('cancel', directory, '--no-json');
  expect([second.code, second.stdout]).toEqual([1, expect.stringContaining('10 messages not taken back')]);
  expect(await numbers(workspace, true)).toHaveLength(20);
});

test('a plan that was never applied is refused, exit 2, and stays one', async () => {
  const workspace = await aScheduledJob();
  const { plan, directory } = await workspace.told('plan', 'job.yaml');

  await workspace.expectRefused(['cancel', directory], 2, 'bad-plan', /was never applied$/);
  expect((await workspace.told('runs', 'job.yaml')).runs).toMatchObject([{ run: plan, state: 'planned' }]);
});

test('what was taken back and sent again with --again, saved anew with a byte order mark, is not retried too: a person gets one message', async () => {
  const file = `${people(30)}Nobody,n/a\n`;
  const { workspace, summary, cancel } = await aScheduledRun(file);
  await cancel();
  const retry = ['retry', summary.directory, '--only', 'not-sent', '--job', 'job.yaml'];
  const { directory } = await workspace.told(...retry);

  workspace.write('people.csv', `\uFEFF${file}`);
  const { plan } = (await workspace.run('--again')).summary;

  const why = `run ${plan} has sent people.csv again since`;
  for (const args of [['apply', directory], retry]) await workspace.expectRefused(args, 2, 'plan-mismatch', why);
  expect(await numbers(workspace, false)).toEqual(numbersOf(30));
});

test('what is taken back after --again has sent it is not said to be retried', async () => {
  const { workspace, summary } = await aScheduledRun(people(30));
  const { plan } = (await workspace.run('--again')).summary;
  const { stdout } = await workspace.volley('cancel', summary.directory, '--no-json');
  expect(stdout).toContain(`run ${plan} has sent people.csv again since`);
  expect(stdout).not.toContain('volley retry');
  for (const verb of ['apply', 'report', 'status']) {
    const account = (await workspace.volley(verb, summary.directory, '--no-json')).stdout;
    const next = account.slice(account.indexOf('Next: ')).replace(/\s+/g, ' ');
    expect(next, verb).toContain(`run ${plan} has sent people.csv again since`);
  }
  expect(await numbers(workspace, false)).toEqual(numbersOf(30));
});
