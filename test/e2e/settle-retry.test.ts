import { describe, expect, test } from 'vitest';
import type { SmsEntry } from '../../src/sandbox/sms/batch-schema.js';
import { anEventLine, aReceipt } from '../listen/events.js';
import { anSmsStep, numbersOf, people } from './a-job.js';
import { aJobFor, type Workspace } from './a-workspace.js';
import { readOutput } from './account.js';

/** What the service would export: all that it accepted, in two files, as links to several are what it answers with. */
async function exportMessages(workspace: Workspace): Promise<void> {
  const line = (cells: readonly string[]) => `${cells.join(',')}\n`;
  const rows = (await workspace.sms()).map((entry: SmsEntry) => {
    return [entry.umid, 'acme_hq', '1', 'sent', entry.destination, entry.clientMessageId ?? ''];
  });
  const header = 'umid,subaccountid,direction,status_value,msisdn,clientmessageid'.split(',');
  workspace.write('export-1.csv', [header, ...rows.slice(0, 12)].map(line).join(''));
  workspace.write('export-2.csv', [header, ...rows.slice(12)].map(line).join(''));
}

/** Forty people in batches of ten: the answers to the second and third are lost, the third itself as well. */
async function aRunInDoubt() {
  const workspace = await aJobFor(
    people(40),
    { steps: [anSmsStep()] },
    { kind: 'reset-after', nth: 2 },
    { kind: 'reset-before', nth: 3 },
  );
  const { code, summary } = await workspace.run();
  expect([code, summary.balance.inDoubt]).toEqual([3, 20]);
  return { workspace, summary };
}

describe('rows in doubt, from the message export to the last message', () => {
  test('what was sent is known, what the export lacks is for a person to decide, and then sent: once each', async () => {
    const { workspace, summary } = await aRunInDoubt();
    await exportMessages(workspace);

    const whole = ['--export', 'export-1.csv', '--export', 'export-2.csv'];
    const settled = await workspace.volley('settle', summary.directory, ...whole);

    expect(settled.code).toBe(3);
    expect(JSON.parse(settled.stdout)).toMatchObject({
      plan: summary.plan,
      settled: { accepted: 10, rejected: 0, notSent: 0 },
      inDoubt: 10,
      left: [{ reason: 'the export lacks it, which proves nothing', rows: 10 }],
    });
    expect(readOutput(summary, 1, 'in-doubt').map((row) => row._destination)).toEqual(numbersOf(10, 21));

    const decided = await workspace.volley('settle', summary.directory, '--assume', 'not-sent', '--confirm', '10');
    expect([decided.code, JSON.parse(decided.stdout).settled.notSent]).toEqual([0, 10]);
    const retried = await workspace.volley('retry', summary.directory, '--only', 'not-sent');

    expect(retried.code).toBe(0);
    const plan = JSON.parse(retried.stdout);
    expect(plan).toMatchObject({ retryOf: summary.plan, steps: [{ counts: { read: 10, planned: 10 } }] });
    expect(await workspace.destinations()).toEqual([...numbersOf(20), ...numbersOf(10, 31)]);

    const applied = await workspace.volley('apply', plan.directory);

    expect([applied.code, applied.summary.balance.accepted]).toEqual([0, 10]);
    expect(await workspace.destinations()).toEqual(numbersOf(40));
    expect(readOutput(applied.summary, 1, 'results').map((row) => row._row)).toEqual(
      Array.from({ length: 10 }, (_, index) => String(21 + index)),
    );
    const again = await workspace.volley('retry', summary.directory, '--only', 'not-sent');
    expect([again.code, JSON.parse(again.stdout)]).toMatchObject([
      0,
      { state: 'nothing-to-retry', left: { retriedBefore: 10 } },
    ]);
    const nothing = await workspace.run();
    expect([nothing.code, JSON.parse(nothing.stdout).state]).toEqual([0, 'nothing-new']);
    expect(await workspace.destinations()).toEqual(numbersOf(40));
  });

  test('receipts on disk come before a person’s word, and what they tell of is sent to no one again; run names the retry until it is applied', async () => {
    const { workspace, summary } = await aRunInDoubt();
    // What a listener leaves that was killed in the pause before it would have joined them.
    const lines = (await workspace.sms())
      .filter(({ destination }) => numbersOf(10, 11).includes(destination))
      .map(({ clientMessageId, destination, umid }) =>
        anEventLine(aReceipt({ payload: { clientMessageId, destination, umid } })),
      );
    workspace.write(`${workspace.runOf(summary.plan)}/receipts.ndjson`, lines.join(''));
    const assume = (count: string) =>
      workspace.volley('settle', summary.directory, '--assume', 'not-sent', '--confirm', count);

    const all = await assume('20');
    expect([all.code, all.stderr]).toEqual([2, expect.stringMatching(/expected 10[\s\S]*settled 10 rows by now/)]);
    expect(JSON.parse((await assume('10')).stdout).settled).toEqual({ accepted: 0, rejected: 0, notSent: 10 });
    const retried = await workspace.volley('retry', summary.directory, '--only', 'not-sent');
    const { plan, directory } = JSON.parse(retried.stdout);

    const forgotten = await workspace.run();
    expect(JSON.parse(forgotten.stdout).state).toBe('nothing-new');
    expect(forgotten.stderr).toContain(`plan ${plan} has claimed 10 rows of run ${summary.plan} and was never applied`);
    expect(forgotten.stderr).toContain(`volley apply ${directory}`);
    expect((await workspace.volley('apply', directory)).code).toBe(0);
    expect((await workspace.run()).stderr).not.toContain(plan);
    expect(await workspace.destinations()).toEqual(numbersOf(40));
  });
});
