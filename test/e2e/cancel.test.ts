import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { readOutput } from './account.js';
import { readFailure } from './failure.js';

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

/** Thirty messages in batches of ten, accepted by the service for a time tomorrow. */
async function aScheduledRun(scheduled = inHours(24), file = people(30)) {
  const template = { source: 'ACME', text: 'Hi {{ name }}', scheduled };
  const workspace = await aJobFor(file, { steps: [anSmsStep({ template })] });
  const { code, summary } = await workspace.run();
  expect([code, summary.balance.accepted]).toEqual([summary.balance.rejected, 30]);
  return { workspace, summary };
}

const cancelledNumbers = async (workspace: Workspace) =>
  (await workspace.sms()).filter(({ cancelledAt }) => cancelledAt !== null).map(({ destination }) => destination);

test('a scheduled run is taken back: its rows are cancelled, and a retry under a corrected job sends each once', async () => {
  const { workspace, summary } = await aScheduledRun();

  const { code, stdout } = await workspace.volley('cancel', 'job.yaml');

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ state: 'cancelled', batches: 3, cancelled: 30, kept: 0, inDoubt: 0 });
  expect(await cancelledNumbers(workspace)).toEqual(numbersOf(30));
  const rows = readOutput(summary, 1, 'unprocessed');
  expect(rows.map(({ _code }) => _code)).toEqual(Array(30).fill('cancelled'));
  expect((await workspace.volley('status', 'job.yaml')).code).toBe(0);

  workspace.writeJob(aJob(workspace), 'corrected.yaml');
  const retry = ['retry', summary.directory, '--only', 'not-sent', '--job', 'corrected.yaml'];
  const plan = JSON.parse((await workspace.volley(...retry)).stdout);
  const applied = await workspace.volley('apply', plan.directory);
  expect([applied.code, applied.summary.balance.accepted]).toEqual([0, 30]);
  const sent = (await workspace.sms()).filter(({ cancelledAt }) => cancelledAt === null);
  expect(sent.map(({ destination }) => destination)).toEqual(numbersOf(30));

  const again = await workspace.volley('cancel', summary.directory);
  expect([again.code, JSON.parse(again.stdout).batches]).toEqual([0, 0]);
});

test('after a cancel its account, a run and the page say when messages were taken back, and the whole command that sends them', async () => {
  const { workspace, summary } = await aScheduledRun();
  const when = /30 (messages|messages of it were|rows) taken back on \d+ \w+ \d{4} at \d\d:\d\d UTC/;
  const run = `out/sale/${basename(summary.directory)}`;
  const retry = `retry ${run} --only not-sent --job job.yaml\n`;

  const cancelled = await workspace.volley('cancel', 'job.yaml', '--no-json');
  expect(cancelled.stdout).toMatch(when);
  expect(cancelled.stdout).toContain(retry);

  const idle = await workspace.volley('run', 'job.yaml', '--no-json');
  expect([idle.code, idle.stdout.split('\n')[1]]).toEqual([0, expect.stringMatching(when)]);
  expect(idle.stdout).toContain(retry);
  expect(idle.stdout).not.toContain('--again');
  expect(readFileSync(join(summary.directory, 'report.html'), 'utf8')).toMatch(/30 rows taken back on \d+ \w+/);

  // Once another plan has them, nothing is left to send.
  workspace.writeJob(aJob(workspace), 'job.yaml');
  await workspace.volley('retry', summary.directory, '--only', 'not-sent', '--job', 'job.yaml');
  const retried = await workspace.volley('run', 'job.yaml', '--no-json');
  expect(retried.stdout).not.toContain('taken back');
});

test('a cancel without an answer leaves its rows in doubt, and the others are taken back: exit 3', async () => {
  const { workspace, summary } = await aScheduledRun();
  workspace.setFaults({ kind: 'reset-after', area: 'sms', nth: 2 });

  const { code, stdout } = await workspace.volley('cancel', summary.directory);

  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({ state: 'in-doubt', cancelled: 20, inDoubt: 10 });
  expect(readOutput(summary, 1, 'in-doubt').map(({ _code, _destination }) => [_code, _destination])).toEqual(
    numbersOf(10, 11).map((number) => ['cancelling', number]),
  );
  // The second cancel of a batch cannot tell what the first one did.
  const again = await workspace.volley('cancel', summary.directory);
  expect(JSON.parse(again.stdout)).toMatchObject({ batches: 0, cancelled: 0 });
});

test('a key that is refused ends the cancel at once; what was not taken back stays accepted: exit 4', async () => {
  const { workspace, summary } = await aScheduledRun();
  workspace.setFaults({ kind: 'status-401', area: 'sms', nth: 2 });

  const { code, stdout, stderr } = await workspace.volley('cancel', summary.directory);

  expect(code).toBe(4);
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ plan: summary.plan, state: 'stopped', exitCode: 4, error: { code: 'unauthorized' } },
    ...{ batches: 2, cancelled: 10, kept: 20, inDoubt: 0, balance: { accepted: 20, unprocessed: 10 } },
  });
  expect(stderr).toContain('Cannot cancel an SMS batch');
  expect(await cancelledNumbers(workspace)).toEqual(numbersOf(10));
  expect(readOutput(summary, 1, 'results').map(({ _destination }) => _destination)).toEqual(numbersOf(20, 11));
});

test('messages that no cancel can take back are counted: those in doubt, and those whose batch is not known', async () => {
  const template = { source: 'ACME', text: 'Hi {{ name }}', scheduled: inHours(24) };
  const workspace = await aJobFor(people(30), { steps: [anSmsStep({ template })] }, { kind: 'reset-after', nth: 2 });
  const { summary } = await workspace.run();

  const first = await workspace.volley('cancel', summary.directory);

  expect([first.code, JSON.parse(first.stdout)]).toMatchObject([3, { cancelled: 20, kept: 0, inDoubt: 10 }]);
  const early = await workspace.volley('settle', summary.directory, '--assume', 'sent', '--confirm', '10');
  expect([early.code, early.stderr]).toEqual([2, expect.stringContaining('may wait at the service until')]);
  const sent = (await workspace.sms()).filter(({ cancelledAt }) => cancelledAt === null);
  const rows = sent.map((each) => [each.umid, 'acme_hq', 'sent', each.destination, each.clientMessageId].join());
  workspace.write('export.csv', ['umid,subaccountid,status_value,msisdn,clientmessageid', ...rows, ''].join('\n'));
  expect((await workspace.volley('settle', summary.directory, '--export', 'export.csv')).code).toBe(0);
  const second = await workspace.volley('cancel', summary.directory, '--no-json');
  expect([second.code, second.stdout]).toEqual([1, expect.stringContaining('10 messages not taken back')]);
  expect(await cancelledNumbers(workspace)).toHaveLength(20);
});

test('a plan that was never applied is refused, exit 2, and stays one', async () => {
  const template = { source: 'ACME', text: 'Hi {{ name }}', scheduled: inHours(24) };
  const workspace = await aJobFor(people(3), { steps: [anSmsStep({ template })] });
  const { plan } = JSON.parse((await workspace.volley('plan', 'job.yaml')).stdout);

  const { exitCode, error } = readFailure(await workspace.volley('cancel', `out/sale/${plan}`));

  expect([exitCode, error.code, error.message]).toEqual([2, 'bad-plan', expect.stringMatching(/was never applied$/)]);
  const { runs } = JSON.parse((await workspace.volley('runs', 'job.yaml')).stdout);
  expect(runs).toMatchObject([{ run: plan, state: 'planned' }]);
});

test('what was taken back and sent again with --again, saved anew with a byte order mark, is not retried too: a person gets one message', async () => {
  const file = `${people(30)}Nobody,n/a\n`;
  const { workspace, summary } = await aScheduledRun(inHours(24), file);
  await workspace.volley('cancel', 'job.yaml');
  const retry = ['retry', summary.directory, '--only', 'not-sent', '--job', 'job.yaml'];
  const plan = JSON.parse((await workspace.volley(...retry)).stdout);

  workspace.write('people.csv', `\uFEFF${file}`);
  const again = await workspace.run('--again');

  const said = `run ${again.summary.plan} has sent people.csv again since`;
  const made = readFailure(await workspace.volley('apply', plan.directory));
  expect([made.exitCode, made.error.message]).toEqual([2, expect.stringContaining(said)]);
  const refused = readFailure(await workspace.volley(...retry));
  expect([refused.exitCode, refused.error.message]).toEqual([2, expect.stringContaining(said)]);
  const waiting = (await workspace.sms()).filter(({ cancelledAt }) => cancelledAt === null);
  expect(waiting.map(({ destination }) => destination)).toEqual(numbersOf(30));
});
