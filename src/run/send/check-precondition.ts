import type { Verdict } from '../../domain/row.js';
import type { PartResult } from '../../journal/entry-format.js';
import { sameVerdictForAll } from '../../kinds/outcomes.js';
import type { Precondition, RequestPart } from '../../kinds/step-kind.js';
import { type Answer, readErrorBody } from '../../service/answer.js';
import { type Decision, decideAnswer } from '../../service/decide-answer.js';
import type { PassGate } from '../../throttle/lane.js';
import { sendRead } from './query-outcome.js';
import type { SendContext } from './send-context.js';

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
