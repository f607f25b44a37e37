import { describe, expect, test } from 'vitest';
import type { FaultInput } from '../../src/sandbox/faults/fault.js';
import { aContactsStep, aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';

/** Each way to lose an answer: before the request was processed, and after it. */
const BEFORE = ['stall', 'reset-before', 'close-before', 'status-500', 'status-502', 'status-504'] as const;
const AFTER = ['stall-after', 'reset-after', 'close-after', 'status-after'] as const;
const LOSSES = [...BEFORE, ...AFTER];
const QUICK = { timeouts: { answerSeconds: 1 } };

describe.concurrent('an answer that is lost', () => {
  test(`puts the batch in doubt, is not asked for again, and is held on the next run: ${LOSSES.join(', ')}`, async () => {
    // Every second batch suffers: the breaker counts bad answers in a row.
    const workspace = await aWorkspaceInProcess(
      ...LOSSES.map((kind, index): FaultInput => ({ kind, nth: 2 * index + 2 })),
    );
    workspace.write('people.csv', people(200));
    workspace.writeJob(aJob(workspace, { service: QUICK }));

    const { code, summary } = await workspace.run();

    expect(code).toBe(3);
    expectEveryRowOnce(summary);
    const held = readOutput(summary, 1, 'in-doubt');
    expect(held.map((row) => row.mobile)).toEqual(LOSSES.flatMap((_, index) => numbersOf(10, 20 * index + 11)));
    expect(new Set(held.map((row) => row._code))).toEqual(new Set(['no-answer']));
    expect(summary.balance).toMatchObject({ accepted: 100, inDoubt: 100 });
    const lost = BEFORE.flatMap((_, index) => numbersOf(10, 20 * index + 11));
    expect(await workspace.destinations()).toEqual(numbersOf(200).filter((number) => !lost.includes(number)));

    await workspace.run();
    expect(workspace.requests()).toHaveLength(20);
  });

  test('for a contact is asked for again: one contact, exit 0', async () => {
    const faults = LOSSES.map((kind, index): FaultInput => ({ kind, nth: 2 + 3 * index, area: 'contacts' }));
    const workspace = await aWorkspaceInProcess(...faults);
    workspace.write('people.csv', people(20));
    workspace.writeJob(aJob(workspace, { service: QUICK, steps: [aContactsStep()] }));

    const { code, summary } = await workspace.run();

    expect(code).toBe(0);
    expectEveryRowOnce(summary);
    expect(summary.balance.accepted).toBe(20);
    expect(workspace.requests()).toHaveLength(30);
    const made = (await workspace.contacts()).filter((entry) => entry.outcome === 'created');
    expect(made.map((entry) => entry.contact.addresses)).toHaveLength(20);
  });

  test('many times in a row opens the breaker: exit 75, in doubt is what was on its way, the rest was not sent', async () => {
    const workspace = await aWorkspaceInProcess({ kind: 'latency', delayMs: 1000 }, { kind: 'status-500' });
    workspace.write('people.csv', people(200));
    const limits = { requestsPerSecond: 1800, messagesPerSecond: 25_000, concurrency: 8 };
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ limits })] }));

    const { code, summary } = await workspace.run();

    expect(code).toBe(75);
    expectEveryRowOnce(summary);
    expect(summary).toMatchObject({ state: 'stopped', stop: { reason: 'unavailable' } });
    expect(summary.balance).toMatchObject({ inDoubt: 80, unprocessed: 120 });
    expect(workspace.requests()).toHaveLength(8);

    workspace.setFaults();
    const again = await workspace.run();

    expect(again.code).toBe(3);
    expect(again.summary.balance).toMatchObject({ accepted: 120, inDoubt: 80, unprocessed: 0 });
    expect(await workspace.destinations()).toHaveLength(120);
  });
});
