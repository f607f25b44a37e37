import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { aContactsStep, aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, volleyIn } from './a-workspace.js';
import { expectEveryRowOnce, expectLedgerAgrees, readOutput } from './account.js';

/** Names that a spreadsheet would run, or that must come back as they were. */
const ODD_NAMES = ['=1+1', '+cmd', '-2', '@SUM(A1)', "'=x", "'plain", 'a,"b"', '\ttab', '＝wide', 'two\nlines'];

function cell(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

describe.concurrent('a rejections file, fixed and re-imported', () => {
  test('sends exactly the fixed rows, with every other cell as it was', async () => {
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

  test('works for NDJSON outputs too', async () => {
    const workspace = await aWorkspace({ kind: 'reject-rows', endingWith: '002' });
    const rows = [
      '{"name":"=Ann","mobile":"+6591000001"}',
      '{"name":"Bo\\nb","mobile":"+6591000002"}',
      '{"name":"Cid","mobile":"x"}',
    ];
    workspace.write('in/people.ndjson', `${rows.join('\n')}\n`);
    const output = { directory: 'out', format: 'ndjson' };
    workspace.writeJob(aJob(workspace, { output, steps: [anSmsStep({ input: { files: 'in/*' } })] }));
    const first = await workspace.run();
    expectEveryRowOnce(first.summary);
    expect(readOutput(first.summary, 1, 'rejections').map((row) => row.name)).toEqual(['Bo\nb', 'Cid']);

    const file = readFileSync(join(first.summary.directory, '1-sms.rejections.ndjson'), 'utf8');
    workspace.write('in/fixed.ndjson', file.replace('+6591000002', '+6591000012').replace('"x"', '"+6591000013"'));
    const { code, summary } = await workspace.run();

    expect(code).toBe(0);
    expectEveryRowOnce(summary);
    expect((await workspace.sms()).map((entry) => entry.text)).toEqual(['Hi =Ann', 'Hi Bo\nb', 'Hi Cid']);
  });
});

test.concurrent('output.format ndjson gives the same rows and cells as csv', async () => {
  const outputs = await Promise.all(
    ['csv', 'ndjson'].map(async (format) => {
      const workspace = await aWorkspace(
        { kind: 'reject-rows', area: 'sms', endingWith: '003' },
        { kind: 'partial', area: 'sms', nth: 2 },
      );
      workspace.write('people.csv', `${people(15)}Twin,+6591000001\nNobody,\n`);
      const steps = [aContactsStep(), anSmsStep()];
      workspace.writeJob(aJob(workspace, { steps, output: { directory: 'out', format } }));
      const { summary } = await workspace.run();
      expectEveryRowOnce(summary);
      const names = ['results', 'rejections', 'skipped', 'in-doubt', 'unprocessed'] as const;
      const rows = [1, 2].flatMap((step) => names.map((output) => readOutput(summary, step, output)));
      // Each has a sandbox, and so a plan id, of its own; numbers of NDJSON are numbers.
      const own = ['_umid', '_clientMessageId', '_batchId', '_contactId', '_location', '_rowId'];
      return rows.map((list) =>
        list.map((row) =>
          Object.entries(row).map(([key, value]) => [key, own.includes(key) ? value !== '' : String(value)]),
        ),
      );
    }),
  );

  expect(outputs[1]).toEqual(outputs[0]);
  expect(outputs[0]?.map((rows) => rows.length)).toEqual([16, 1, 0, 0, 0, 13, 2, 1, 1, 0]);
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
