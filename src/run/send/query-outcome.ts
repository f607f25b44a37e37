import type { RowOutcomes } from '../../domain/row.js';
import type { RequestPart } from '../../kinds/step-kind.js';
import type { Answer } from '../../service/answer.js';
import { decideAnswer, explainStop } from '../../service/decide-answer.js';
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
    if (decision.kind === 'stop') stop.request(decision.reason, explainStop(decision));
    else if (decision.kind !== 'again' && decision.kind !== 'wait') return { kind: 'unresolved' };
  }
  return { kind: stop.isRequested ? 'postponed' : 'unresolved' };
}

/** A read, through the gate. Undefined: the run is stopping, and nothing was sent. */
export async function sendRead(
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
