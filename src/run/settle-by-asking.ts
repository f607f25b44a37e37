import type { Result } from '../journal/format.js';
import { decideAnswer } from '../service/retry.js';
import type { RequestPart } from '../steps/kind.js';
import type { SendContext } from './contexts.js';

const MAX_TRIES = 3;
const PAUSE_MS = 1000;

/**
 * Asks the service what became of a request whose outcome is unknown, where its kind can; reads only, each through the
 * gate. Undefined: nothing tells it, and it stays in doubt.
 */
export async function settleByAsking(
  { requestPart, body }: { requestPart: RequestPart; body: Buffer },
  { deps, kind, lock, service, stop }: SendContext,
  gate: () => Promise<void>,
): Promise<Result | undefined> {
  const { settling } = kind;
  if (settling === undefined) return undefined;
  const wire = settling.call(service, body);
  for (let tries = 0; tries < MAX_TRIES && !stop.isRequested; tries++) {
    if (tries > 0) await deps.clock.sleep(PAUSE_MS * tries, stop.nothingNew);
    try {
      await gate();
    } catch (error) {
      if (stop.isRequested) return undefined;
      throw error;
    }
    lock.assertFresh();
    const headers = { ...wire.headers, ...deps.authorize(kind.area, wire.method) };
    const answer = await deps.transport.send({ ...wire, headers }, stop.nothingMore);
    const decision = decideAnswer(answer, { isRepeatable: true, nowMs: deps.clock.now() });
    if (decision.kind === 'read' && answer.kind === 'response') return settling.readOutcomes(answer, requestPart, body);
    if (decision.kind !== 'again' && decision.kind !== 'wait') return undefined;
  }
  return undefined;
}
