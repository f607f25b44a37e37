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

/**
 * Queries the service for the unknown outcome of a request, if its kind can; reads only, each through the gate. `unresolved`: the service does
 * not know; `postponed`: the run stops before an answer, and the next one queries again.
 */
export async function queryOutcome(
  { requestPart, body }: { requestPart: RequestPart; body: Buffer },
  context: SendContext,
  gate: PassGate,
): Promise<RowOutcomes | 'unresolved' | 'postponed'> {
  const { deps, kind, service, stop } = context;
  const { outcomeQuery } = kind;
  if (outcomeQuery === undefined) return 'unresolved';
  const wire = outcomeQuery.call(service, body);
  for (let tries = 0; tries < MAX_TRIES && !stop.isRequested; tries++) {
    if (tries > 0) await deps.clock.sleep(PAUSE_MS * tries, stop.nothingNew);
    const answer = await sendRead(wire, context, gate);
    if (answer === undefined) break;
    const decision = decideAnswer(answer, { area: kind.area, isRepeatable: true, nowMs: deps.clock.now() });
    if (decision.kind === 'read' && answer.kind === 'response') {
      return outcomeQuery.readOutcomes(answer, requestPart, body) ?? 'unresolved';
    }
    if (decision.kind === 'stop') stop.request(decision.reason, explainStop(decision, kind.area), decision.fault);
    else if (decision.kind !== 'again' && decision.kind !== 'wait') return 'unresolved';
  }
  return stop.isRequested ? 'postponed' : 'unresolved';
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

interface Asked {
  readonly requestPart: RequestPart;
  readonly body: Buffer;
  /** Reads of this part that failed while other requests were answered. */
  readonly unread: number;
}

/**
 * Reads the state that a request depends on before it is begun: what is `seen` where it may be sent, else its result, or that it is tried again.
 * Returns undefined where the run is stopping.
 */
export async function checkPrecondition(
  precondition: Precondition,
  asked: Asked,
  { context, gate }: { context: SendContext; gate: PassGate },
): Promise<{ readonly seen: number } | { readonly result: PartResult; readonly decision: Decision } | undefined> {
  const { deps, kind, service } = context;
  const answer = await sendRead(precondition.call(service, asked.body), context, gate);
  if (answer === undefined) return undefined;
  const decision = decideAnswer(answer, { area: kind.area, isRepeatable: true, nowMs: deps.clock.now() });
  if (decision.kind === 'read' && answer.kind === 'response') {
    const found = precondition.readAnswer(answer, asked.requestPart, asked.body);
    if (found !== undefined && 'seen' in found) return found;
    if (found !== undefined) return { result: { kind: 'settled', outcomes: found }, decision };
    // It may be a stray answer, and this request's own may come next on the connection.
    deps.transport.dropConnections?.();
    return { result: judge(UNREADABLE, answer, asked, precondition), decision: UNREADABLE };
  }
  return { result: judge(decision, answer, asked, precondition), decision };
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
