import { expect, test } from 'vitest';
import { aContactsStep, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, volleyIn } from './a-workspace.js';
import { expectEveryRowOnce, expectLedgerAgrees } from './account.js';

test.concurrent('standard input is read whole, kept in the run directory, and sent once', async () => {
  const workspace = await aWorkspace();
  workspace.change({ steps: [anSmsStep({ input: { files: '-' } })] });

  const { code, summary } = await workspace.finish(workspace.start(['run', 'job.yaml'], { stdin: people(15) }));

  expect(code).toBe(0);
  expectEveryRowOnce(summary);
  expectLedgerAgrees(summary, await workspace.sms(), (row) => `Hi ${row.name}`);
  expect(workspace.read(`${workspace.runOf(summary.plan)}/stdin`)).toBe(people(15));
  const again = await volleyIn(workspace, { stdin: people(15) }, 'run', 'job.yaml');
  expect(JSON.parse(again.stdout)).toMatchObject({ state: 'nothing-new' });
  expect(await workspace.destinations()).toEqual(numbersOf(15));
});

test.concurrent('a run that finishes has every row in exactly one output, and its results join the ledger by clientMessageId', async () => {
  const workspace = await aWorkspace({ kind: 'reject-rows', area: 'sms', endingWith: '3' });
  workspace.write('people.csv', `${people(40)}Twin,+65 9100 0001\nNobody,\n"Short"\n,+6591000099\n`);
  workspace.write('gone.csv', 'mobile\n+6591000002\n');
  workspace.change({ steps: [aContactsStep(), anSmsStep({ batchSize: 7, suppress: { files: 'gone.csv' } })] });

  const { code, summary, stdout } = await workspace.run();

  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  expectEveryRowOnce(summary);
  expectLedgerAgrees(summary, await workspace.sms(), (row) => `Hi ${row.name}`);
  expect(summary).toMatchObject({ state: 'finished', exitCode: 1, stop: null });
  expect(code).toBe(1);
  expect(summary.steps[1]).toMatchObject({
    balance: { read: 44, accepted: 35, rejected: 7, skipped: 2, inDoubt: 0, unprocessed: 0 },
    rejections: { REJECTED: 4, empty: 1, 'too-few-fields': 1, 'missing-value': 1 },
    skips: { duplicate: 1, suppressed: 1 },
  });
});
