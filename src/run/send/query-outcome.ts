import type { RowOutcomes, Verdict } from '../../domain/row.js';
import type { PartResult } from '../../journal/entry-format.js';
import { sameVerdictForAll } from '../../kinds/outcomes.js';
import type { Precondition, RequestPart } from '../../kinds/step-kind.js';
import { type Answer, readErrorBody } from '../../service/answer.js';
import { type Decision, decideAnswer, explainStop } from '../../service/decide-answer.js';
import type { WireRequest } from '../../service/endpoint.js';
import type { PassGate, ReportConnectDelay } from '../../throttle/lane.js';
import type { SendContext } from './send-context.js';

const MAX_TRIES = 3;
const PAUSE_MS = 1000;

/** The result of the query. */
export type QueryResult =
  | { readonly kind: 'resolved'; readonly outcomes: RowOutcomes }
  /** The service does not know. */
  | { readonly kind: 'unresolved' }
  /** The run stops before an answer: the next run queries again. */
  | { readonly kind: 'postponed' };

/** Queries the service for the unknown outcome of a request, if its kind can; reads only, each through the gate. */
export async function queryOutcome(
  { requestPart, body }: { requestPart: RequestPart; body: Buffer },
  context: SendContext,
  gate: PassGate,
): Promise<QueryResult> {
  const { deps, kind, service, stop } = context;
  const { outcomeQuery } = kind;
  if (outcomeQuery === undefined) return { kind: 'unresolved' };
  const wire = outcomeQuery.call(service, body);
  for (let tries = 0; tries < MAX_TRIES && !stop.isRequested; tries++) {
    if (tries > 0) await deps.clock.sleep(PAUSE_MS * tries, stop.nothingNew);
    const answer = await sendRead(wire, context, gate);
    if (answer === undefined) break;
    const decision = decideAnswer(answer, { area: kind.area, isRepeatable: true, nowMs: deps.clock.now() });
    if (decision.kind === 'read' && answer.kind === 'response') {
      const outcomes = outcomeQuery.readOutcomes(answer, requestPart, body);
      return outcomes === undefined ? { kind: 'unresolved' } : { kind: 'resolved', outcomes };
    }
    if (decision.kind === 'stop') stop.request(decision.reason, explainStop(decision, kind.area));
    else if (decision.kind !== 'again' && decision.kind !== 'wait') return { kind: 'unresolved' };
  }
  return { kind: stop.isRequested ? 'postponed' : 'unresolved' };
}

/** A read, through the gate. Undefined: the run is stopping, and nothing was sent. */
async function sendRead(
  wire: WireRequest,
  { deps, kind, lock, stop }: SendContext,
  gate: PassGate,
): Promise<Answer | undefined> {
  let reportConnectDelay: ReportConnectDelay | undefined;
  try {
    reportConnectDelay = await gate(() => lock.assertHeld());
  } catch (error) {
    if (!stop.isRequested) throw error;
  }
  if (stop.isRequested) return undefined;
  lock.assertFresh();
  const headers = { ...wire.headers, ...deps.authorize(kind.area, wire.method) };
  return deps.transport.send({ ...wire, area: kind.area, headers, reportConnectDelay }, stop.nothingMore);
}

/** The result of checking a precondition. */
type PreconditionResult =
  | { readonly kind: 'send'; readonly seen: number }
  /** The request is not sent: this is its result, or it is tried again. */
  | { readonly kind: 'unsent'; readonly result: PartResult; readonly decision: Decision }
  /** The run is stopping. */
  | { readonly kind: 'stopping' };

interface Asked {
  readonly requestPart: RequestPart;
  readonly body: Buffer;
  /** Reads of this part that failed while other requests were answered. */
  readonly unread: number;
}

/** Reads the state that a request depends on before it is begun, and decides whether to send it. */
export async function checkPrecondition(
  precondition: Precondition,
  asked: Asked,
  { context, gate }: { context: SendContext; gate: PassGate },
): Promise<PreconditionResult> {
  const { deps, kind, service } = context;
  const answer = await sendRead(precondition.call(service, asked.body), context, gate);
  if (answer === undefined) return { kind: 'stopping' };
  const decision = decideAnswer(answer, { area: kind.area, isRepeatable: true, nowMs: deps.clock.now() });
  if (decision.kind === 'read' && answer.kind === 'response') {
    const found = precondition.readAnswer(answer, asked.requestPart, asked.body);
    if (found !== undefined && 'seen' in found) return { kind: 'send', seen: found.seen };
    if (found !== undefined) return { kind: 'unsent', result: { kind: 'settled', outcomes: found }, decision };
    // It may be a stray answer, and this request's own may come next on the connection.
    deps.transport.dropConnections?.();
    return { kind: 'unsent', result: judge(UNREADABLE, answer, asked, precondition), decision: UNREADABLE };
  }
  return { kind: 'unsent', result: judge(decision, answer, asked, precondition), decision };
}

const UNREADABLE = { kind: 'again', why: 'an answer that cannot be read', mayHaveBeenProcessed: true } as const;
/** A read that fails alone must not keep the run from finishing. */
const MAX_UNREAD = 2;

function judge(
  decision: Decision,
  answer: Answer,
  { requestPart, unread }: Asked,
  precondition: Precondition,
): PartResult {
  const settled = (verdict: Verdict): PartResult => ({
    kind: 'settled',
    outcomes: sameVerdictForAll(requestPart.count, verdict),
  });
  if (decision.kind === 'refused' && answer.kind === 'response') {
    const { code, message } = readErrorBody(answer);
    return settled({ status: 'rejected', code, reason: message });
  }
  const isUnread = decision.kind === 'again' && decision.mayHaveBeenProcessed && unread >= MAX_UNREAD;
  return isUnread
    ? settled(precondition.unread)
    : { kind: 'again', why: 'why' in decision ? decision.why : 'no answer' };
}
