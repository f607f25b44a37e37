import { expect, test } from 'vitest';
import type { Where } from '../../src/job/schema/written-where.js';
import { cancelBatches } from '../../src/settle/cancel-batches.js';
import { aCsvOf, aNumber, anInput, anSmsStep, aPlan, type MadePlan, someLimits } from '../plan/a-plan.js';
import { aReceiptLine, receive } from '../report/some-receipts.js';
import { aRun, aScriptedService, reportOf } from '../run/a-run.js';
import { depsOf, lockedRun, withLock } from '../settle/an-export.js';
import { applyRetry, retriedPlan, retry } from './a-retry.js';

/** Three messages in one batch, accepted, and taken back; what `where` leaves out of the others of the file was never sent. */
async function aCancelledRun(others = '', where?: Where): Promise<MadePlan> {
  const steps = [
    anSmsStep({ input: anInput(where === undefined ? {} : { where }), limits: someLimits({ concurrency: 1 }) }),
  ];
  const made = await aPlan({ files: { 'people.csv': `${aCsvOf(3)}${others}` }, job: { steps } });
  await aRun({ made });
  await withLock(made, async (lock) => {
    const options = { person: 'ann', step: 1, signal: new AbortController().signal };
    const cancel = async () => ({ kind: 'cancelled', count: 3 }) as const;
    expect((await cancelBatches(await lockedRun(made, lock), { ...options, cancel }, depsOf(made))).cancelled).toBe(3);
  });
  await reportOf(made);
  return made;
}

test('what was taken back is retried, and sent once, whatever receipts that do not say sent come before or after', async () => {
  const made = await aCancelledRun();
  receive(made, ...['queued', 'rejected', 'queued'].map((state, row) => aReceiptLine(made, row, { state })));
  const child = await retriedPlan(made, 'not-sent');
  expect(child.rows).toHaveLength(3);
  const service = aScriptedService();
  await applyRetry(child, { service });
  expect(service.sent.map(({ rows }) => rows)).toEqual([[0, 1, 2]]);
});

test('what was taken back is not retried where a receipt says all the same that it was sent', async () => {
  const made = await aCancelledRun();
  receive(made, ...['sent', 'delivered', 'undelivered'].map((state, row) => aReceiptLine(made, row, { state })));
  expect(await retry(made, 'not-sent')).toMatchObject({ made: undefined, left: { received: 3 } });
});

test('what was taken back is no row that was left out: those stay left out as long as their filter holds', async () => {
  const where: Where = [[{ column: 'name', tests: [{ op: 'not', values: ['Out'], exact: false }] }]];
  const made = await aCancelledRun(`${aNumber(8)},Out\n${aNumber(9)},Out\n`, where);
  expect(made.step.skips).toEqual({ filtered: 2 });
  expect(await retry(made, 'filtered')).toMatchObject({ made: undefined, left: { filtered: 2 } });
});
