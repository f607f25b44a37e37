import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aContactsStep, aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, volleyIn } from './a-workspace.js';
import { expectEveryRowOnce, expectLedgerAgrees } from './account.js';

/** Names that a spreadsheet would run, or that must come back as they were. */
const ODD_NAMES = ['=1+1', '+cmd', '-2', '@SUM(A1)', "'=x", "'plain", 'a,"b"', '\ttab', '＝wide', 'two\nlines'];

function cell(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

test.concurrent('a rejections file, fixed and re-imported sends exactly the fixed rows, with every other cell as it was', async () => {
  const workspace = await aWorkspace();
  const odd = ODD_NAMES.map((name, index) => `${cell(name)},O${index}\n`).join('');
  workspace.write('in/people.csv', `${people(5)}${odd}Still,nonsense\n`);
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: 'in/*' } })] }));
  const first = await workspace.run();
  expect(first.code).toBe(1);
  const file = readFileSync(join(first.summary.directory, '1-sms.rejections.csv'), 'utf8');
  for (const opening of ['=1', '+cmd', '-2', '@SUM', '＝wide']) expect(file).toContain(`\n'${opening}`);

  const fixed = file.replaceAll(/,O(\d),/g, (_, digit) => `,${numbersOf(1, 101 + Number(digit))[0]},`);
  workspace.write('in/fixed.csv', fixed);
  const { code, summary } = await workspace.run();

  expect(code).toBe(1);
  expectEveryRowOnce(summary);
  expect(summary.balance).toMatchObject({ read: 11, accepted: 10, rejected: 1 });
  const sent = await workspace.sms();
  expect(sent.slice(5).map((entry) => entry.text)).toEqual(ODD_NAMES.map((name) => `Hi ${name}`));
  expect(sent.slice(5).map((entry) => entry.destination)).toEqual(numbersOf(10, 101));
});

test.concurrent('standard input is read whole, kept in the run directory, and sent once', async () => {
  const workspace = await aWorkspace();
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ input: { files: '-' } })] }));

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
  workspace.writeJob(
    aJob(workspace, { steps: [aContactsStep(), anSmsStep({ batchSize: 7, suppress: { files: 'gone.csv' } })] }),
  );

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
