import { InternalError } from '../errors.js';
import type { ServiceSettings } from '../job/job.js';
import type { Result } from '../journal/format.js';
import type { JournalWriter } from '../journal/writer.js';
import type { Answer } from '../service/answer.js';
import { readErrorBody } from '../service/errors.js';
import { type Decision, decideAnswer } from '../service/retry.js';
import type { RequestPart, StepKind } from '../steps/kind.js';
import { giveAllRows, inDoubt } from '../steps/outcomes.js';
import type { Lock } from './lock.js';
import type { RunDeps } from './ports.js';
import type { PartToSend } from './request-reader.js';
import type { StopSwitch } from './stop.js';

export interface SendContext {
  readonly planId: string;
  readonly kind: StepKind;
  readonly service: ServiceSettings;
  readonly deps: RunDeps;
  readonly journal: JournalWriter;
  readonly lock: Lock;
  readonly stop: StopSwitch;
}

/** What came of one attempt; its result is durable. Undefined: the run is stopping, and no intent was written. */
export type Attempt = { readonly result: Result; readonly decision: Decision | undefined } | undefined;

/**
 * One attempt to send: intent durable → gate → bytes leave → outcome durable. In this order, always.
 * Throws when the journal cannot be written or the lock is lost: the run then ends at once.
 */
export async function sendPart(part: PartToSend, context: SendContext, gate: () => Promise<void>): Promise<Attempt> {
  const { deps, journal, kind, lock, stop } = context;
  if (stop.isRequested) return undefined;
  await lock.assertHeld();
  const { step, request, part: path, line, rows } = part.open;
  const key = { step, request, part: path };
  const requestPart = toRequestPart(part, context.planId);
  const body = path === '' ? part.body : kind.splitBody(part.body, requestPart);
  const call = {
    ...kind.call(context.service),
    headers: deps.headersFor(kind.area),
    body,
  };
  await journal.append({ type: 'intent', ...key, at: deps.clock.now(), line, rows });
  const settle = async (result: Result, decision: Decision | undefined): Promise<Attempt> => {
    await journal.append({ type: 'outcome', ...key, at: deps.clock.now(), result });
    return { result, decision };
  };
  try {
    await gate();
  } catch (error) {
    if (!stop.isRequested) throw error;
  }
  if (stop.isRequested) return settle({ kind: 'again', why: 'the run was stopping' }, undefined);
  lock.assertFresh();
  const answer = await deps.transport.send(call, stop.nothingMore);
  const decision = decideAnswer(answer, { isRepeatable: kind.isRepeatable, nowMs: deps.clock.now() });
  return settle(toResult(decision, answer, { kind, requestPart, body, unknowns: part.unknowns }), decision);
}

function toResult(
  decision: Decision,
  answer: Answer,
  { kind, requestPart, body, unknowns }: { kind: StepKind; requestPart: RequestPart; body: Buffer; unknowns: number },
): Result {
  switch (decision.kind) {
    case 'stop':
      if (decision.mayHaveBeenProcessed && !kind.isRepeatable) return settleInDoubt(requestPart, decision.why);
      return { kind: 'again', why: decision.why };
    case 'again':
      if (decision.mayHaveBeenProcessed && unknowns >= MAX_UNKNOWNS) return settleInDoubt(requestPart, decision.why);
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
          `Cannot count an answer: it gives ${outcomes.rows.length} of ${requestPart.count} rows`,
        );
      }
      return { kind: 'settled', outcomes };
    }
    case 'refused': {
      if (answer.kind !== 'response') throw new InternalError('unexpected', 'Cannot read a refusal that never came');
      const { code, message } = readErrorBody(answer);
      if (requestPart.count > 1) return { kind: 'split', why: `HTTP ${decision.status}, code ${code}` };
      return settled(requestPart.count, { status: 'rejected', code, reason: message });
    }
  }
}

/** A request that fails alone, while others are answered, is held: sent again for ever, it would keep the run from its end. */
const MAX_UNKNOWNS = 2;

function settleInDoubt({ count }: RequestPart, why: string): Result {
  return settled(count, inDoubt('no-answer', `Sent, and no answer came that says what became of it: ${why}`));
}

function settled(count: number, verdict: Parameters<typeof giveAllRows>[1]): Result {
  return { kind: 'settled', outcomes: giveAllRows(count, verdict) };
}

export function toRequestPart({ open, head }: Pick<PartToSend, 'open' | 'head'>, planId: string): RequestPart {
  const { step, request, part, rows } = open;
  return { planId, step, request, part, first: rows[0], requestFirst: head.first, count: rows[1] };
}
