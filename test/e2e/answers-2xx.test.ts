import { describe, expect, test } from 'vitest';
import type { FaultInput } from '../../src/sandbox/faults/fault.js';
import { aContactsStep, aJob, numbersOf, people } from './a-job.js';
import { aWorkspace } from './a-workspace.js';
import { expectEveryRowOnce, expectLedgerAgrees, readOutput } from './account.js';

interface Case {
  readonly name: string;
  readonly faults: FaultInput[];
  /** Of 30 rows in three batches, of which the second suffers the fault. */
  readonly inDoubt: number;
  readonly reason: string;
}

const cases: Case[] = [
  { name: 'empty', faults: [{ kind: 'empty', nth: 2 }], inDoubt: 10, reason: 'unreadable-answer' },
  { name: 'a page', faults: [{ kind: 'html', nth: 2 }], inDoubt: 10, reason: 'unreadable-answer' },
  { name: 'cut in the middle', faults: [{ kind: 'truncated', nth: 2 }], inDoubt: 10, reason: 'no-answer' },
  { name: 'of other messages', faults: [{ kind: 'foreign', nth: 2 }], inDoubt: 10, reason: 'not-accounted-for' },
  {
    name: 'that leaves three rows out',
    faults: [{ kind: 'partial', rows: 0.3, nth: 2 }],
    inDoubt: 3,
    reason: 'not-accounted-for',
  },
  {
    name: 'without rows, whose count leaves one out',
    faults: [
      { kind: 'reject-rows', rows: 0.1, nth: 2 },
      { kind: 'null-messages', nth: 2 },
    ],
    inDoubt: 10,
    reason: 'no-message-results',
  },
];

describe.concurrent('a 2xx to a batch', () => {
  test.each(cases)('$name puts in doubt just what it does not account for ($inDoubt rows), exit 3', async ({
    faults,
    inDoubt,
    reason,
  }) => {
    const workspace = await aWorkspace(...faults);
    workspace.write('people.csv', people(30));
    workspace.writeJob(aJob(workspace));

    const { code, summary } = await workspace.run();

    expect(code).toBe(3);
    expectEveryRowOnce(summary);
    expect(summary.balance).toMatchObject({ accepted: 30 - inDoubt, inDoubt, rejected: 0, unprocessed: 0 });
    const held = readOutput(summary, 1, 'in-doubt');
    expect(held.map((row) => row._code)).toEqual(held.map(() => reason));
    const [first = 0, last = 0] = [held[0], held.at(-1)].map((row) => Number(row?._row));
    expect([first > 10, last <= 20]).toEqual([true, true]);
    expect(workspace.requests()).toHaveLength(3);
  });

  test.each([
    ['that gives rows twice', 'repeated'],
    ['whose count is one too many, though it names each row', 'wrong-count'],
  ] as const)('%s accounts for every row: exit 0', async (_, kind) => {
    const workspace = await aWorkspace({ kind, nth: 2 });
    workspace.write('people.csv', people(30));
    workspace.writeJob(aJob(workspace));

    const { code, summary } = await workspace.run();

    expect(code).toBe(0);
    expectEveryRowOnce(summary);
    expectLedgerAgrees(summary, await workspace.sms(), (row) => `Hi ${row.name}`);
  });

  test('without rows, whose count is that of the batch, means accepted without ids, and says so', async () => {
    const workspace = await aWorkspace({ kind: 'null-messages', nth: 2 });
    workspace.write('people.csv', people(30));
    workspace.writeJob(aJob(workspace));

    const { code, summary } = await workspace.run();

    expect(code).toBe(0);
    expect(summary.balance).toMatchObject({ accepted: 30, inDoubt: 0 });
    const batch = readOutput(summary, 1, 'results').slice(10, 20);
    expect(new Set(batch.map((row) => `${row._umid} ${row._description}`))).toEqual(
      new Set([' Accepted as a batch; the service gave no message ids']),
    );
    expect(await workspace.destinations()).toEqual(numbersOf(30));
  });
});

test.concurrent('a 2xx that names no contact puts the row in doubt, or makes the same contact again: never two', async () => {
  const workspace = await aWorkspace({ kind: 'partial', nth: 2 });
  workspace.write('people.csv', people(3));
  workspace.writeJob(aJob(workspace, { steps: [aContactsStep()] }));

  const { summary } = await workspace.run();

  expectEveryRowOnce(summary);
  const { accepted, inDoubt } = summary.balance;
  expect(accepted + inDoubt).toBe(3);
  expect((await workspace.contacts()).filter((entry) => entry.outcome === 'created')).toHaveLength(3);
});
