import { expect, test } from 'vitest';
import type { AttemptNote } from '../../src/run/run-deps.js';
import { aPlanOfBatches } from '../plan/a-plan.js';
import { aRun, aScriptedService, reportOf, response } from './a-run.js';

const BUSY = response(503, { code: 503, message: 'busy', errorId: 'e', timestamp: 't' });

test('each attempt is noted, and whether the breaker is open after it', async () => {
  const made = await aPlanOfBatches(20, { batchSize: 10 });
  const service = aScriptedService((_sent, count) => (count > 1 && count <= 7 ? BUSY : undefined));
  const noted: AttemptNote[] = [];

  await aRun({ made, service, deps: { onAttempt: (attempt) => noted.push(attempt) } });

  expect((await reportOf(made)).balance).toMatchObject({ accepted: 20 });
  expect(noted.map(({ step, kind }) => [step, kind])).toEqual(noted.map(() => [1, 'sms']));
  expect(noted.map(({ isBreakerOpen }) => isBreakerOpen)).toEqual([...Array(5).fill(false), true, true, false]);
});
