import { describe, expect, test } from 'vitest';
import type { FaultInput } from '../../src/sandbox/faults/fault.js';
import { aContactsStep, aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';

/** Each way to lose an answer, and whether the messages were processed all the same. */
const losses: [FaultInput['kind'], isProcessed: boolean][] = [
  ['stall', false],
  ['reset-before', false],
  ['close-before', false],
  ['status-500', false],
  ['status-502', false],
  ['status-504', false],
  ['stall-after', true],
  ['reset-after', true],
  ['close-after', true],
  ['status-after', true],
];
const QUICK = { timeouts: { answerSeconds: 1 } };

describe.concurrent('an answer that is lost', () => {
  test.each(losses)('by %s puts the batch in doubt, is not asked for again, and is held on the next run', async (kind, isProcessed) => {
    const workspace = await aWorkspace({ kind, nth: 2 });
    workspace.write('people.csv', people(30));
    workspace.writeJob(aJob(workspace, { service: QUICK }));

    const { code, summary } = await workspace.run();

    expect(code).toBe(3);
    expectEveryRowOnce(summary);
    const held = readOutput(summary, 1, 'in-doubt').map((row) => row.mobile);
    expect(held).toEqual(numbersOf(10, 11));
    expect(summary.balance).toMatchObject({ accepted: 20, inDoubt: 10 });
    expect(workspace.requests()).toHaveLength(3);
    const sent = isProcessed ? numbersOf(30) : [...numbersOf(10), ...numbersOf(10, 21)];
    expect(await workspace.destinations()).toEqual(sent);
  });

  test('for a contact is asked for again: one contact, exit 0', async () => {
    const faults = losses.map(([kind], index): FaultInput => ({ kind, nth: 2 + 3 * index, area: 'contacts' }));
    const workspace = await aWorkspace(...faults);
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
    const workspace = await aWorkspace({ kind: 'latency', delayMs: 400 }, { kind: 'status-500' });
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
