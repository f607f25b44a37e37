import { countOf } from '../../domain/count-of.js';
import { InternalError } from '../../domain/errors.js';
import type { IntentEntry, PartResult } from '../../journal/entry-format.js';
import { inDoubt, sameVerdictForAll } from '../../kinds/outcomes.js';
import type { RequestPart, StepKind } from '../../kinds/step-kind.js';
import { type Answer, readErrorBody, readRetryAfterMs } from '../../service/answer.js';
import { type Decision, decideAnswer, mayBeStray } from '../../service/decide-answer.js';
import type { PassGate, ReportConnectDelay } from '../../throttle/lane.js';
import { isOver } from '../run-times.js';
import { checkPrecondition, queryOutcome } from './query-outcome.js';
import { costOf, type PartToSend } from './request-reader.js';
import { findClosed, type SendContext } from './send-context.js';
import { endUnsent, judgeWithheld } from './withhold.js';

/**
 * The outcome of one attempt; its result is durable. Undefined: the run is stopping, and has no outcome to write.
 * Either there is no intent, or it stays open, and the next run queries its outcome.
 */
export type Attempt =
  | {
      readonly result: PartResult;
      readonly decision: Decision | undefined;
      /** The part alone is sent again after this delay. */
      readonly deferMs?: number | undefined;
    }
  | undefined;

/** How a part leaves. `maySend` is called at its turn at the gate: an earlier request may be in doubt by then. */
interface SendPermit {
  readonly gate: PassGate;
  readonly maySend: () => boolean;
}

/**
 * One attempt to send: intent durable → gate, with a pre-send check of the lock → bytes leave → outcome durable.
 * Always in this order, and at the gate rows that may not be sent any more are withheld: a process that takes the lock after the check finds the intent. Before that, some kinds check
 * a precondition, and the request may end there, unsent. A request that an earlier process sent, without an outcome,
 * is queried instead. Throws when the journal cannot be written or the lock is lost: the run then ends at once. A
 * request refused at the gate has certainly not been sent, and the journal says so: if no process took the lock, the
 * next run sends it.
 */
export async function sendPart(
  part: PartToSend,
  context: SendContext,
  { gate, maySend }: SendPermit,
): Promise<Attempt> {
  const { deps, journal, kind, lock, stop } = context;
  if (stop.isRequested) return undefined;
  // What only the disk tells is looked at once, at the gate: under a lock that was lost an intent says nothing.
  await lock.refresh?.();
  lock.assertFresh();
  const { step, request, part: path, line, rows } = part.open;
  const key = { step, request, part: path };
  const counted = { first: rows[0], requestFirst: part.head.first, count: rows[1] };
  let requestPart: RequestPart = { planId: context.planId, ...key, ...counted };
  const body = path === '' ? part.body : kind.splitBody(part.body, requestPart);
  let asked = { requestPart, body, part };
  const settle = async (judged: Judged, decision: Decision | undefined): Promise<Attempt> => {
    const found = isUnknown(judged.result) ? await queryOutcome(asked, context, gate) : 'unresolved';
    if (found === 'postponed') return undefined;
    const result: PartResult = found === 'unresolved' ? judged.result : { kind: 'settled', outcomes: found };
    await journal.append({ type: 'outcome', ...key, at: deps.clock.now(), result });
    // An unresolved request counts as the same bad answer as before the query.
    const isSettled = found !== 'unresolved' && !isUnknown(result) && decision?.kind !== 'stop';
    return { result, decision: isSettled ? { kind: 'read' } : decision, deferMs: judged.deferMs };
  };
  const isRepeatable = kind.isRepeatable(context.step);
  if (part.open.isInFlight) {
    const why = 'the run ended before the answer came';
    return settle({ result: isRepeatable ? { kind: 'again', why } : settleInDoubt(requestPart, why) }, undefined);
  }
  const { precondition } = kind;
  if (precondition?.isNeeded(context.step) === true) {
    const check = await checkPrecondition(
      precondition,
      { requestPart, body, unread: part.ambiguousAttempts },
      { context, gate },
    );
    if (check === undefined) return undefined;
    if ('result' in check) {
      const { result } = check;
      if (result.kind !== 'settled') return check;
      await Promise.all(endUnsent(part.open, result, deps.clock.now()).map((entry) => journal.append(entry)));
      return check;
    }
    requestPart = { ...requestPart, seen: check.seen };
    asked = { ...asked, requestPart };
  }
  const stay = (why: string) => settle({ result: { kind: 'again', why } }, undefined);
  const wire = kind.call(context.service, body, context.provisionedIds);
  const headers = { ...wire.headers, ...deps.authorize(kind.area, wire.method) };
  const call = { ...wire, area: kind.area, headers, hasOwnConnection: !isRepeatable };
  await journal.append({ type: 'intent', ...key, at: deps.clock.now(), line, rows, ...describeSize(part) });
  let reportConnectDelay: ReportConnectDelay | undefined;
  try {
    reportConnectDelay = await gate(async () => {
      if (kind.recipients !== undefined) await deps.withholding?.refresh();
      await lock.assertHeld();
    });
    // A process may be stopped between the two.
    lock.assertFresh();
  } catch (error) {
    if (stop.isRequested) return stay('the run was stopping');
    await stay('the run may not send');
    throw error;
  }
  const unsent = judgeUnsent(part, context, maySend);
  if (unsent !== undefined) return settle({ result: unsent }, undefined);
  const answer = await deps.transport.send({ ...call, reportConnectDelay }, stop.nothingMore);
  const { trustUnavailable } = context.service;
  const decision = decideAnswer(answer, { area: kind.area, isRepeatable, trustUnavailable, nowMs: deps.clock.now() });
  const judged = judge(decision, answer, { ...asked, isRepeatable }, context);
  const isUnread = decision.kind === 'read' && isUnknown(judged.result);
  // Immediately, before another request can receive this one's answer.
  if (isUnread || mayBeStray(answer, decision)) deps.transport.dropConnections?.();
  return settle(judged, judged.decision);
}

function describeSize(part: PartToSend): Pick<IntentEntry, 'segments'> {
  const { messages, segments } = costOf(part);
  return segments > messages ? { segments } : {};
}

/** Called at its turn at the gate: how it ends unsent; undefined where it may leave. */
function judgeUnsent(part: PartToSend, context: SendContext, maySend: SendPermit['maySend']): PartResult | undefined {
  if (context.stop.isRequested) return { kind: 'again', why: 'the run was stopping' };
  if (isOver(context, context.deps.clock)) return { kind: 'again', why: 'notAfter has passed' };
  const closed = findClosed(part, context);
  if (closed !== undefined) return { kind: 'again', why: closed };
  return maySend() ? judgeWithheld(part, context) : { kind: 'again', why: 'another request is in doubt' };
}

/** The judged answer, before it is durable. */
interface Judged {
  readonly result: PartResult;
  /** Overrides the decision from the answer alone. */
  readonly decision?: Decision;
  readonly deferMs?: number | undefined;
}

interface Asked {
  readonly requestPart: RequestPart;
  readonly body: Buffer;
  readonly part: PartToSend;
  readonly isRepeatable: boolean;
}

/** Whether it is known of no row what became of it. */
export function isUnknown(result: PartResult): boolean {
  return result.kind === 'settled' && result.outcomes.verdicts.every((verdict) => verdict.status === 'in-doubt');
}

function judge(
  decision: Decision,
  answer: Answer,
  asked: Asked,
  context: SendContext,
): Judged & { readonly decision: Decision } {
  if (decision.kind === 'refused') return { decision, ...judgeRefusal(answer, asked, context) };
  return { decision, result: toResult(decision, answer, asked, context.kind) };
}

function judgeRefusal(
  answer: Answer,
  { requestPart, part }: Asked,
  { kind, step, deps, service }: SendContext,
): Judged {
  if (answer.kind !== 'response') throw new InternalError('unexpected', 'Cannot read a refusal that never came');
  const { status } = answer;
  const { code, message } = readErrorBody(answer);
  const about = kind.wholeRequestCodes?.get(code);
  if (about !== undefined) return refuseWhole(requestPart, { code, message, about });
  if (requestPart.count > 1) return { result: { kind: 'split', why: `HTTP ${status}, code ${code}` } };
  const nowMs = deps.clock.now();
  const refusal = { code, message, retryAfterMs: readRetryAfterMs(answer, nowMs) };
  const meaning = kind.readRefusal?.(refusal, step, nowMs) ?? { kind: 'final', code, reason: message };
  if (meaning.kind === 'final') return reject(meaning);
  if (meaning.delayMs > service.giveUpAfterSeconds * 1000) {
    const limit = `longer than giveUpAfterSeconds, ${service.giveUpAfterSeconds} s`;
    return reject({ code, reason: `${message} (${meaning.why}, ${limit})` });
  }
  if (part.deferrals >= MAX_DEFERRALS) return reject({ code, reason: `${message} (tried ${MAX_DEFERRALS + 1} times)` });
  return { result: { kind: 'again', why: meaning.why, isDeferred: true }, deferMs: meaning.delayMs };
}

/** Its rows are rejected, once, and nothing more is sent: every other request would be refused as this one was. */
function refuseWhole(
  { count, step }: RequestPart,
  { code, message, about }: { code: string; message: string; about: string },
): Judged {
  const why = `the service refuses every request of step ${step} as it is: code ${code}, ${message} (it is about ${about})`;
  const fault = about.startsWith('service.') ? 'service-setting' : undefined;
  return {
    result: settled(count, { status: 'rejected', code, reason: message }),
    decision: { kind: 'stop', reason: 'request-refused', why, fault, mayHaveBeenProcessed: false },
  };
}

function reject({ code, reason }: { code: string; reason: string }): Judged {
  return { result: settled(1, { status: 'rejected', code, reason }) };
}

/** Beyond this, another system keeps sending to the number. */
const MAX_DEFERRALS = 5;

function toResult(
  decision: Exclude<Decision, { kind: 'refused' }>,
  answer: Answer,
  { requestPart, body, part, isRepeatable }: Asked,
  kind: StepKind,
): PartResult {
  switch (decision.kind) {
    case 'stop':
      if (decision.mayHaveBeenProcessed && !isRepeatable) return settleInDoubt(requestPart, decision.why);
      return { kind: 'again', why: decision.why };
    case 'again':
      if (decision.mayHaveBeenProcessed && part.ambiguousAttempts >= MAX_AMBIGUOUS_ATTEMPTS)
        return settleInDoubt(requestPart, decision.why);
      return { kind: 'again', why: decision.why };
    case 'wait':
      return { kind: 'again', why: decision.why };
    case 'in-doubt':
      return settleInDoubt(requestPart, decision.why);
    case 'read': {
      if (answer.kind !== 'response') throw new InternalError('unexpected', 'Cannot read an answer that never came');
      const outcomes = kind.readOutcomes(answer, requestPart, body);
      if (outcomes.rows.length !== requestPart.count) {
        throw new InternalError(
          'unbalanced',
          `Cannot count an answer: it gives ${outcomes.rows.length} of ${countOf(requestPart.count, 'row')}`,
        );
      }
      return { kind: 'settled', outcomes };
    }
  }
}

/**
 * A request that fails alone, while others are answered, is put in doubt: repeated indefinitely, it would keep the run
 * from finishing.
 */
const MAX_AMBIGUOUS_ATTEMPTS = 2;

function settleInDoubt({ count }: RequestPart, why: string): PartResult {
  return settled(count, inDoubt('no-answer', `Sent, and no answer came that says what became of it: ${why}`));
}

function settled(count: number, verdict: Parameters<typeof sameVerdictForAll>[1]): PartResult {
  return { kind: 'settled', outcomes: sameVerdictForAll(count, verdict) };
}
