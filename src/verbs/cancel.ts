import { dirname } from 'node:path';
import type { Context } from '../command/context.js';
import { namePerson } from '../command/env.js';
import { describeFailure } from '../command/failure.js';
import { openService } from '../command/open-service.js';
import { openNamedRun } from '../command/run-directory.js';
import { escapeText, formatNextStep, formatParagraph, type Screen, showCommandOn } from '../command/screen.js';
import { drainOnSignal } from '../command/signals.js';
import { type HeldRun, withRun } from '../command/with-job.js';
import { closing } from '../domain/closing.js';
import { countOf, listNonZero, listSaid, sumOf } from '../domain/count-of.js';
import { messageOf, quoteWord, ServiceError, UserError } from '../domain/errors.js';
import { omitUndefined } from '../domain/is-object.js';
import { formatTime } from '../domain/stated-time.js';
import { listHeld } from '../kinds/schedule.js';
import type { Plan } from '../plan/format/plan-file.js';
import { listOthersWaiting, type WaitingRun } from '../registry/waiting-messages.js';
import { EXIT } from '../report/exit-code.js';
import { readRunRows } from '../report/run-rows.js';
import type { Summary } from '../report/summary.js';
import { findSentAgain } from '../retry/claiming-plan.js';
import { callOnLane } from '../run/send/call-on-lane.js';
import { createAreaUse } from '../run/send/send-context.js';
import { cancelBatch } from '../service/areas/sms.js';
import type { CallService } from '../service/endpoint.js';
import { type CancelAnswer, type CancelCounts, cancelBatches, noneCancelled } from '../settle/cancel-batches.js';
import { isLockLost } from '../storage/lock.js';
import { nextOfTakenBack } from '../texts/next-step.js';
import { formatWaitingRun } from '../texts/summary-text.js';
import { LaneStopped } from '../throttle/gate.js';
import { adopt, defineVerb, json, namedRun } from './verb.js';

type WaitingStep = ReturnType<typeof listHeld>[number];

/**
 * `volley cancel RUN`: takes back what the service has accepted and not yet sent, and writes the run's outputs again. Sends no
 * message. Ends with 0 when all was taken back, 1 when some was sent before, 3 when some is in doubt.
 */
export const cancel = defineVerb({
  args: { run: namedRun },
  flags: { adopt, json },
  examples: [['jobs/spring-sale.yaml', 'takes back the newest run, as far as its time has not come']],
  run: async ({ run: written }, context) => {
    const { env, screen } = context;
    const { directory, plan, jobFile } = await openNamedRun(context, written);
    const nowMs = env.clock.now();
    const others = await listOthersWaiting(env.files, { jobDirectory: dirname(directory), except: plan.id, nowMs });
    const waiting = findWaiting(plan, nowMs, others);
    const ended = await drainOnSignal(context, () =>
      withRun(context, { directory, plan }, async (run) => {
        const taken = await takeBack(run, waiting, context);
        const summary = await run.report();
        const sentAgain = findSentAgain(run.registry.state, plan);
        return { ...taken, summary, sentAgain };
      }),
    );
    const { summary, failure, sentAgain } = ended;
    const counts = { ...ended.counts, ...countLeft(summary, waiting) };
    const { batches, cancelled, kept, inDoubt } = counts;
    context.name({ cancelled, kept, inDoubt });
    const rest = { what: ASKS_FOR_REST, command: ['cancel', directory] };
    const isEarly = failure !== undefined && kept > 0;
    const after = cancelled === 0 ? undefined : nextOfTakenBack(directory, { job: jobFile, sentAgain });
    const next = isEarly ? rest : after;
    // Who takes back a campaign means them, too.
    const also = others.map((each) => formatWaitingRun(each, screen)).join('');
    const toSend = countToSend(summary);
    const said = `${formatToSend(toSend, directory, screen)}${also}${formatNextStep(next, screen)}`;
    const text = formatCancelled(plan.id, counts, summary.takenBackAt, said);
    const elsewhere = others.map(({ said: _said, ...each }) => each);
    const figures = { ...counts, balance: summary.balance, toSend, others: elsewhere };
    const about = { job: plan.job.name, plan: plan.id, directory };
    const left = listNonZero({ 'not taken back': kept, 'in doubt': inDoubt });
    const reason = [
      `${countOf(cancelled, 'message')} of ${countOf(batches, 'batch', 'batches')} taken back`,
      ...left,
    ].join(', ');
    if (failure !== undefined) {
      const object = { ...about, ...describeFailure(failure), ...figures };
      return { json: object, text: batches === 0 ? '' : text, exitCode: object.exitCode, reason, failure };
    }
    const whole = batches + kept + inDoubt === 0 ? 'nothing-to-cancel' : 'cancelled';
    const state = inDoubt > 0 ? 'in-doubt' : kept > 0 ? 'partly-cancelled' : whole;
    const exitCode = inDoubt > 0 ? EXIT.inDoubt : kept > 0 ? EXIT.rejected : EXIT.ok;
    return { json: { ...about, state, ...figures }, text, exitCode, reason };
  },
});

/** Rows that the run sends as soon as it is resumed. */
function countToSend({ state, stop, balance, steps }: Summary): number {
  if (state === 'finished' || stop?.reason === 'abandoned') return 0;
  return balance.unprocessed - sumOf(steps.flatMap(({ notSent = {} }) => Object.values(notSent)));
}

function formatToSend(rows: number, directory: string, screen: Screen): string {
  if (rows === 0) return '';
  const so = `The run is not at its end: ${countOf(rows, 'row')} of it ${rows === 1 ? 'is' : 'are'} sent once it is resumed. To let it go before that:`;
  return `${formatParagraph(so, screen)}  ${escapeText(showCommandOn(screen, 'abandon', directory))}\n`;
}

/** Messages of the steps that are accepted still (sent, refused by the service, or not asked for), or in doubt, as the run stands then. */
function countLeft({ steps }: Summary, waiting: readonly WaitingStep[]): { kept: number; inDoubt: number } {
  const left = steps.filter(({ number }) => waiting.some((each) => each.number === number));
  const sum = (of: 'accepted' | 'inDoubt') => sumOf(left.map(({ balance }) => balance[of]));
  return { kept: sum('accepted'), inDoubt: sum('inDoubt') };
}

function formatCancelled(
  id: string,
  { batches, cancelled, kept, inDoubt, refusals }: CancelCounts & ReturnType<typeof countLeft>,
  takenBackAt: string | undefined,
  next: string,
): string {
  if (batches + kept + inDoubt === 0) return `Run ${id}: there is no accepted message left to take back.\n${next}`;
  const why = Object.entries(refusals).map(
    ([reason, count]) => `    ${countOf(count, 'batch', 'batches')}: ${reason}\n`,
  );
  const when = cancelled > 0 && takenBackAt !== undefined ? ` on ${formatTime({ at: takenBackAt })}` : '';
  return listSaid(
    `Run ${id}: ${countOf(cancelled, 'message')} taken back${when} before they were sent.\n`,
    kept > 0 && `  ${countOf(kept, 'message')} not taken back: the service has sent them, refused, or was not asked.\n`,
    ...why,
    inDoubt > 0 &&
      `  ${countOf(inDoubt, 'message')} in doubt: they may or may not be sent. Settle them with the message export of the service, after their time.\n`,
    next,
  ).join('');
}

function findWaiting({ id, job }: Plan, nowMs: number, others: readonly WaitingRun[]): WaitingStep[] {
  const waiting = listHeld(job, nowMs);
  if (waiting.length > 0) return waiting;
  const [first] = listHeld(job, Number.NEGATIVE_INFINITY);
  const why =
    first === undefined
      ? 'no step of it has template.scheduled, so the service sent at once what it accepted'
      : `its messages were to be sent on ${formatTime(first.at)}, which has passed`;
  const elsewhere = others.map(({ run, directory, said }) => {
    return `Of run ${run} ${said}: \`volley cancel ${quoteWord(directory)}\` takes them back.`;
  });
  throw new UserError('bad-plan', `Cannot cancel run ${id}: ${why}`, {
    hint:
      elsewhere.length > 0
        ? elsewhere.join(' ')
        : 'Only what waits at the service for its time can be taken back. A run that is still sending stops with SIGTERM or Ctrl-C.',
  });
}

/** `failure`: what kept it from asking for all of them. */
async function takeBack({ directory, plan, lock }: HeldRun, waiting: readonly WaitingStep[], context: Context) {
  const { env, log, stop } = context;
  const { files, clock } = env;
  const { state } = await readRunRows(files, { directory, plan });
  if (state.firstOpen === undefined) {
    throw new UserError('bad-plan', `Cannot cancel ${directory}: its plan was never applied`, {
      hint: `Nothing of it was sent. To let it go: \`volley abandon ${quoteWord(directory)}\``,
    });
  }
  const createLane = await env.loadLane();
  await using service = closing(await openService(context, plan.job, dirname(directory)));
  const { transport, authorize } = service;
  const onNotice = (notice: string) => log.warn(notice);
  const deps = { ...env, transport, authorize, createLane, onProgress: () => {}, onNotice };
  const areas = createAreaUse(clock, { state, othersSentMsAgo: lock.lastOwnedMsAgo });
  const lane = { area: 'sms', service: service.settings, deps, lock, stop, areas, signal: stop.nothingNew } as const;
  let failure: unknown;
  let doubtsInRow = 0;
  const ask = async (call: CallService, batchId: string): Promise<CancelAnswer> => {
    try {
      const { cancelledCount } = await call(cancelBatch, { batchId });
      doubtsInRow = 0;
      return { kind: 'cancelled', count: cancelledCount };
    } catch (error) {
      if (isLockLost(error)) throw error;
      if (error instanceof LaneStopped) return { kind: 'not-asked' };
      const answer = readFailure(error);
      doubtsInRow = answer.kind === 'unknown' ? doubtsInRow + 1 : 0;
      if (!isOfBatch(error) || doubtsInRow === MOST_DOUBTS_IN_ROW) {
        // The next one would fare as badly, and what is in doubt no second cancel can ask for.
        failure ??= nameRest(error);
        stop.request('interrupted', 'the cancel failed');
      }
      return answer;
    }
  };
  const counts = noneCancelled();
  const about = { person: namePerson(context), signal: stop.nothingNew };
  // One lane after the other: a step's begins where that of the last one ended, so that the area's limit holds.
  for (const { number, step } of waiting) {
    const run = { ...(await readRunRows(files, { directory, plan })), lock };
    await callOnLane({ ...lane, limits: step.limits }, (call) =>
      cancelBatches(run, { ...about, step: number, cancel: (batchId) => ask(call, batchId) }, env, counts),
    );
  }
  const signal = stop.reason?.detail ?? 'a signal';
  const hint = 'Run the same command again: it asks for what is left.';
  if (stop.isRequested)
    failure ??= new UserError('interrupted', `Cannot finish the cancel: the process received ${signal}`, { hint });
  return { counts, failure };
}

function readFailure(error: unknown): CancelAnswer {
  if (error instanceof ServiceError && error.code === 'in-doubt') return { kind: 'unknown' };
  return { kind: 'refused', reason: messageOf(error) };
}

const MOST_DOUBTS_IN_ROW = 3;
const ASKS_FOR_REST = 'the same command asks for the rest, until its time has come';

/** The hint of a call is about that call alone. */
function nameRest(error: unknown): unknown {
  if (!(error instanceof ServiceError) || (error.code !== 'unavailable' && error.code !== 'in-doubt')) return error;
  const { code, message, status, serviceCode } = error;
  const way = isBarred(error)
    ? 'Check the base address, and what stands between here and the service. Then the'
    : 'The';
  const hint = `${way} same command asks for the rest.`;
  return new ServiceError(code, message, omitUndefined({ hint, status, serviceCode }));
}

/** Whether the next batch may fare better. */
function isOfBatch(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false;
  return error.code === 'refused' || (error.code === 'in-doubt' && !isBarred(error));
}

/** Whether a call was refused by something in between, which lets no other pass either. */
function isBarred({ status = 0 }: ServiceError): boolean {
  return status === 401 || status === 403 || (status >= 300 && status < 400);
}
