import type { Verdict } from '../../domain/row.js';
import type { Result } from '../../journal/entry-format.js';
import { sameVerdictForAll } from '../../kinds/outcomes.js';
import type { Precondition, RequestPart } from '../../kinds/step-kind.js';
import type { Answer } from '../../service/answer.js';
import { type Decision, decideAnswer } from '../../service/decide-answer.js';
import { readErrorBody } from '../../service/error-body.js';
import type { PassGate } from '../../throttle/lane.js';
import { sendRead } from './query-outcome.js';
import type { SendContext } from './send-context.js';

/** What a look at the service before a request came to. */
export type PreconditionResult =
  | { readonly kind: 'send'; readonly seen: number }
  /** The request is not sent: it comes to this, or is tried again. */
  | { readonly kind: 'unsent'; readonly result: Result; readonly decision: Decision }
  /** The run is stopping. */
  | { readonly kind: 'stopping' };

interface Asked {
  readonly requestPart: RequestPart;
  readonly body: Buffer;
  /** Looks of this part that came to nothing, while other requests were answered. */
  readonly unread: number;
}

/** Looks at what a request is about before it is begun: what is found may be that it is not to be sent. */
export async function checkPrecondition(
  precondition: Precondition,
  asked: Asked,
  { context, gate }: { context: SendContext; gate: PassGate },
): Promise<PreconditionResult> {
  const { deps, service } = context;
  const answer = await sendRead(precondition.call(service, asked.body), context, gate);
  if (answer === undefined) return { kind: 'stopping' };
  const { trustUnavailable } = service;
  const decision = decideAnswer(answer, { isRepeatable: true, trustUnavailable, nowMs: deps.clock.now() });
  if (decision.kind === 'read' && answer.kind === 'response') {
    const found = precondition.readAnswer(answer, asked.requestPart, asked.body);
    if (found !== undefined && 'seen' in found) return { kind: 'send', seen: found.seen };
    if (found !== undefined) return { kind: 'unsent', result: { kind: 'settled', outcomes: found }, decision };
    // It may be the answer to another request, and this one's may come next on its connection.
    deps.transport.dropConnections?.();
    return { kind: 'unsent', result: judge(UNREADABLE, answer, asked, precondition), decision: UNREADABLE };
  }
  return { kind: 'unsent', result: judge(decision, answer, asked, precondition), decision };
}

const UNREADABLE = { kind: 'again', why: 'an answer that cannot be read', mayHaveBeenProcessed: true } as const;
/** One that fails alone, looked at again and again, would keep the run from its end. */
const MAX_UNREAD = 2;

function judge(decision: Decision, answer: Answer, { requestPart, unread }: Asked, precondition: Precondition): Result {
  const settled = (verdict: Verdict): Result => ({
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
