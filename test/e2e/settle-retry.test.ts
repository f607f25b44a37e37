import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { anEventLine, aReceipt } from '../listen/events.js';
import { aStepForTomorrow, numbersOf, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { readOutput } from './account.js';
import { until } from './command.js';

/** Forty people in batches of ten: the answers to the second and third are lost, the third itself as well. */
async function aRunInDoubt() {
  const faults = [
    { kind: 'reset-after', nth: 2 },
    { kind: 'reset-before', nth: 3 },
  ] as const;
  const workspace = await aJobFor(people(40), {}, ...faults);
  const { code, summary } = await workspace.run();
  expect([code, summary.balance.inDoubt]).toEqual([3, 20]);
  return { workspace, summary, directory: summary.directory };
}

describe('rows in doubt, from the message export to the last message', () => {
  test('what was sent is known, what the export lacks is for a person to decide, and then sent: once each', async () => {
    const { workspace, summary, directory } = await aRunInDoubt();
    // All that the service accepted, in two files, as links to several are what it answers with.
    const rows = (await workspace.sms()).map((entry) =>
      [entry.umid, 'acme_hq', '1', 'sent', entry.destination, entry.clientMessageId].join(),
    );
    const header = 'umid,subaccountid,direction,status_value,msisdn,clientmessageid';
    workspace.write('export-1.csv', [header, ...rows.slice(0, 12), ''].join('\n'));
    workspace.write('export-2.csv', [header, ...rows.slice(12), ''].join('\n'));

    const whole = ['--export', 'export-1.csv', '--export', 'export-2.csv'];
    expect(await workspace.told('settle', directory, ...whole)).toMatchObject({
      ...{ plan: summary.plan, exitCode: 3, settled: { accepted: 10, rejected: 0, notSent: 0 }, inDoubt: 10 },
      left: [{ reason: 'the export lacks it, which proves nothing', rows: 10 }],
    });
    expect(readOutput(summary, 1, 'in-doubt').map((row) => row._destination)).toEqual(numbersOf(10, 21));

    const decided = await workspace.settle(directory, 'not-sent', 10);
    expect([decided.code, JSON.parse(decided.stdout).settled.notSent]).toEqual([0, 10]);
    const plan = await workspace.retry(directory, 'not-sent');
    const counts = { read: 10, planned: 10 };
    expect(plan).toMatchObject({ exitCode: 0, retryOf: summary.plan, steps: [{ counts }] });
    expect(await workspace.destinations()).toEqual([...numbersOf(20), ...numbersOf(10, 31)]);

    const applied = await workspace.volley('apply', plan.directory);

    expect([applied.code, applied.summary.balance.accepted]).toEqual([0, 10]);
    expect(await workspace.destinations()).toEqual(numbersOf(40));
    const places = readOutput(applied.summary, 1, 'results').map((row) => Number(row._row));
    expect(places).toEqual(Array.from({ length: 10 }, (_, index) => 21 + index));
    const nothing = { exitCode: 0, state: 'nothing-to-retry', left: { retriedBefore: 10 } };
    expect(await workspace.retry(directory, 'not-sent')).toMatchObject(nothing);
    expect(await workspace.told('run', 'job.yaml')).toMatchObject({ exitCode: 0, state: 'nothing-new' });
    expect(await workspace.destinations()).toEqual(numbersOf(40));
  });

  test('receipts on disk come before a person’s word, and what they tell of is sent to no one again; run names the retry until it is applied', async () => {
    const { workspace, summary, directory: run } = await aRunInDoubt();
    // What a listener leaves that was killed in the pause before it would have joined them.
    const lines = (await workspace.sms())
      .filter(({ destination }) => numbersOf(10, 11).includes(destination))
      .map(({ clientMessageId, destination, umid }) =>
        anEventLine(aReceipt({ payload: { clientMessageId, destination, umid } })),
      );
    workspace.write(`${workspace.firstRun()}/receipts.ndjson`, lines.join(''));

    const all = await workspace.settle(run, 'not-sent', 20);
    expect([all.code, all.stderr]).toEqual([2, expect.stringMatching(/expected 10[\s\S]*settled 10 rows by now/)]);
    expect(await workspace.told('settle', run, '--receipts')).toMatchObject({
      ...{ exitCode: 3, settled: { accepted: 0, rejected: 0, notSent: 0 }, inDoubt: 10 },
      left: [{ reason: 'no receipt shows what became of it', rows: 10 }],
    });
    const { stdout } = await workspace.settle(run, 'not-sent', 10);
    expect(JSON.parse(stdout).settled).toEqual({ accepted: 0, rejected: 0, notSent: 10 });
    const { plan, directory } = await workspace.retry(run, 'not-sent');

    const forgotten = await workspace.run();
    expect(JSON.parse(forgotten.stdout).state).toBe('nothing-new');
    expect(forgotten.stderr).toContain(`plan ${plan} has claimed 10 rows of run ${summary.plan} and was never applied`);
    expect(forgotten.stderr).toContain(`volley apply ${directory}`);
    expect((await workspace.volley('apply', directory)).code).toBe(0);
    expect((await workspace.run()).stderr).not.toContain(plan);
    expect(await workspace.destinations()).toEqual(numbersOf(40));
  });

  test('a retry of a retry is refused once the first run was deleted by hand, and the receipts of its rows with it', async () => {
    const workspace = await aJobFor(people(20), {}, { kind: 'reset-after', nth: 1 });
    const { directory: first, plan } = (await workspace.run()).summary;
    await workspace.settle(first, 'not-sent', 10);
    workspace.setFaults({ kind: 'reset-before', nth: 1 });
    const { directory } = (await workspace.resend(first, 'not-sent')).summary;
    await workspace.settle(directory, 'not-sent', 10);
    rmSync(first, { recursive: true });
    for (const flags of [[], ['--adopt']]) {
      const retry = ['retry', directory, '--only', 'not-sent', ...flags];
      const why = `run ${plan} is gone, and with it what delivery receipts show`;
      expect((await workspace.expectRefused(retry, 2, 'plan-mismatch', why)).hint).toContain('from a backup');
    }
  });
});

describe('a decision is advised only where settle takes it', () => {
  const readAdvice = async (workspace: Workspace) => {
    workspace.write('export.csv', 'umid,subaccountid,direction,status_value,msisdn,clientmessageid\n');
    const { stdout } = await workspace.volley('settle', 'job.yaml', '--export', 'export.csv', '--no-json');
    return /^.*Decide yourself.*$/m.exec(stdout)?.[0];
  };

  test('once the time of scheduled messages has passed, and not before', async () => {
    const workspace = await aJobFor(people(20), { steps: [aStepForTomorrow()] }, { kind: 'reset-after', nth: 2 });
    const { directory } = (await workspace.run()).summary;
    expect((await workspace.settle(directory, 'sent', 10)).code).toBe(2);
    expect(await readAdvice(workspace)).toMatch(
      /^Decide yourself once \d+ \w+ \d{4} at \d\d:\d\d UTC has passed, for the 10 in doubt \(sent or not-sent\): /,
    );
  });

  test('not while other rows were under way as the process died', async () => {
    const workspace = await aJobFor(people(30), {}, { kind: 'reset-after', nth: 1 }, { kind: 'stall', nth: 2 });
    const running = workspace.start(['run', 'job.yaml']);
    await until(() => workspace.requests().length === 2);
    running.signal('SIGKILL');
    await running.ended;
    expect((await workspace.settle(workspace.firstRun(), 'sent', 20)).code).toBe(2);
    expect(await readAdvice(workspace)).toBe(undefined);
  });
});
