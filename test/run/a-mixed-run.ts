import { StopSwitch } from '../../src/run/stop.js';
import type { Answer } from '../../src/service/answer.js';
import { settleByDecision } from '../../src/settle/settle-rows.js';
import { aCsvOf, aNumber, anSmsStep, aPlan, type MadePlan, someLimits } from '../plan/a-plan.js';
import { depsOf, lockedRun, withLock } from '../settle/an-export.js';
import { aRun, aScriptedService, batchAnswer, failure, response, type Sent } from './a-run.js';

export const files = { 'people.csv': `${aCsvOf(9)}n/a,nobody\n${aNumber(0)},again\n` };
export const ONE_BY_ONE = someLimits({ concurrency: 1 });

/**
 * Nine people in three requests: rows 0 to 2 are accepted but for 1 (refused as `REJECTED`), the answer to 3 to 5 is lost, 6 to 8
 * are refused with code 1100. Two more rows are rejected and skipped by the plan.
 */
export async function aMixedRun(): Promise<MadePlan> {
  const steps = [anSmsStep({ batchSize: 3, limits: ONE_BY_ONE, text: 'Hi {{ name }}' })];
  const made = await aPlan({ files, job: { steps } });
  const service = aScriptedService((sent) => {
    if (sent.rows.includes(4)) return failure(true);
    return refuseSome(sent);
  });
  await aRun({ made, service });
  return made;
}

/** A run that stops with its second request, which the service could not take; nothing else was sent. */
export async function aStoppedRun(): Promise<MadePlan> {
  const steps = [anSmsStep({ batchSize: 3, limits: ONE_BY_ONE, text: 'Hi {{ name }}' })];
  const made = await aPlan({ files, job: { steps } });
  const stop = new StopSwitch();
  const service = aScriptedService((_sent, count) => {
    if (count !== 2) return undefined;
    stop.request('interrupted', 'SIGTERM');
    return response(503, { code: 2000, message: 'busy', errorId: 'e' });
  });
  await aRun({ made, service, stop });
  return made;
}

export const settleAll = (made: MadePlan, assume: 'sent' | 'not-sent') =>
  withLock(made, async (lock) =>
    settleByDecision(await lockedRun(made, lock), { assume, confirm: 3, person: 'ann' }, depsOf(made)),
  );
export const numbersOf = ({ rows }: MadePlan) => rows.map(({ cells }) => cells[0]);
export const numbers = (...rows: number[]) => rows.map(aNumber);
export const sentTo = (service: ReturnType<typeof aScriptedService>) =>
  service.sent.flatMap(({ body }) => body.messages?.map(({ destination }) => destination) ?? []);

/** Refuses rows from the seventh on with their requests, and the second one alone. */
export const refuseSome = (sent: Sent): Answer | undefined => {
  if (sent.rows.some((row) => row >= 6)) return response(400, { code: 1100, message: 'Bulk limit reached' });
  return sent.rows.includes(1) ? refuseEach(sent, /-1$/) : undefined;
};

/** Refuses the messages whose id matches, and accepts the others. */
export function refuseEach(sent: Sent, id: RegExp): Answer {
  const answer = batchAnswer(sent);
  const status = { code: 'REJECTED', description: 'No route' };
  const messages = answer.messages.map((one) => (id.test(one.clientMessageId) ? { ...one, status } : one));
  return response(200, { ...answer, messages });
}
