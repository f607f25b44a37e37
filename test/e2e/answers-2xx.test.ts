import { describe, expect, test } from 'vitest';
import type { FaultInput } from '../../src/sandbox/faults/fault.js';
import { aContactsStep, aJob, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { expectEveryRowOnce, expectLedgerAgrees, readOutput } from './account.js';

/** What a 2xx to a batch of ten can leave open: the fault, how many rows are then in doubt, and by which code. */
const open: [what: string, fault: FaultInput, inDoubt: number, code: string][] = [
  ['an empty body', { kind: 'empty' }, 10, 'unreadable-answer'],
  ['a page', { kind: 'html' }, 10, 'unreadable-answer'],
  ['no body, and nothing was processed', { kind: 'status-202' }, 10, 'unreadable-answer'],
  ['a body cut in the middle', { kind: 'truncated' }, 10, 'no-answer'],
  ["another batch's messages", { kind: 'foreign' }, 10, 'not-accounted-for'],
  ['three rows left out', { kind: 'partial', rows: 0.3 }, 3, 'not-accounted-for'],
  ['no rows, and a count that is not the whole batch', { kind: 'null-messages' }, 10, 'no-message-results'],
];

describe.concurrent('a 2xx to a batch', () => {
  test(`puts in doubt just what it does not account for: ${open.map(([what]) => what).join('; ')}`, async () => {
    // Every second batch suffers: the breaker counts bad answers in a row.
    const faults = open.map(([, fault], index): FaultInput => ({ ...fault, nth: 2 * index + 2 }));
    const workspace = await aWorkspace({ kind: 'reject-rows', rows: 0.1, nth: 2 * open.length }, ...faults);
    workspace.write('people.csv', people(20 * open.length));
    workspace.writeJob(aJob(workspace));

    const { code, summary } = await workspace.run();

    expect(code).toBe(3);
    expectEveryRowOnce(summary);
    const held = readOutput(summary, 1, 'in-doubt').map(
      (row) => `batch ${Math.ceil(Number(row._row) / 10)}: ${row._code}`,
    );
    const wanted = open.flatMap(([, , count, reason], index) => Array(count).fill(`batch ${2 * index + 2}: ${reason}`));
    expect(held).toEqual(wanted);
    expect(summary.balance).toMatchObject({ rejected: 0, unprocessed: 0 });
    expect(workspace.requests()).toHaveLength(2 * open.length);
  });

  test('accounts for every row where it gives some twice, and where its count is wrong but each row is named', async () => {
    const workspace = await aWorkspace({ kind: 'repeated', nth: 2 }, { kind: 'wrong-count', nth: 3 });
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

test.concurrent('a 2xx to a contact that names none, or another one, puts the row in doubt: exit 3', async () => {
  const workspace = await aWorkspace({ kind: 'partial', nth: 2 }, { kind: 'foreign', nth: 4 });
  workspace.write('people.csv', people(5));
  workspace.writeJob(aJob(workspace, { steps: [aContactsStep()] }));

  const { code, summary } = await workspace.run();

  expect(code).toBe(3);
  expectEveryRowOnce(summary);
  expect(readOutput(summary, 1, 'in-doubt').map((row) => row.name)).toEqual(['P2', 'P4']);
  const made = (await workspace.contacts()).map((entry) => String(entry.contactId));
  expect(new Set(made).size).toBe(5);
  expect(readOutput(summary, 1, 'results').map((row) => row._contactId)).toEqual([made[0], made[2], made[4]]);
});
