import type { Area } from '../../domain/areas.js';
import type { Limits } from '../../job/limits.js';
import { createCaller } from '../../service/caller.js';
import type { CallService, Endpoint } from '../../service/endpoint.js';
import { isLockLost } from '../../storage/lock.js';
import type { StepNotices } from '../run-events.js';
import type { OfRun } from './send-context.js';

/**
 * Runs a task that calls endpoints one by one, on a lane of its own; once the lock is lost nothing leaves, and the call
 * fails with that error.
 */
export async function callOnLane<T>(
  context: Pick<OfRun, 'service' | 'deps' | 'lock' | 'stop' | 'areas'> & {
    area: Area;
    limits: Limits;
    /** How long to keep retrying what was not done; defaults to `giveUpAfterSeconds`. */
    giveUpAfterMs?: number;
    /** Cancels queued calls. */
    signal: AbortSignal;
    /** Cancels calls in flight; defaults to the run's own abandon signal. */
    abandon?: AbortSignal;
    notices?: StepNotices;
  },
  task: (call: CallService) => Promise<T>,
): Promise<T> {
  const { area, limits, service, deps, lock, stop, areas, signal, notices } = context;
  const { clock } = deps;
  const lane = deps.createLane({ area, limits, ...areas.lastOf(area), signal });
  const call = createCaller({
    service,
    transport: {
      ...deps.transport,
      send: (wire, abort) => {
        lock.assertFresh();
        return deps.transport.send(wire, abort);
      },
    },
    authorize: deps.authorize,
    laneOf: () => lane,
    preSendCheck: () => lock.assertHeld(),
    clock,
    giveUpAfterMs: context.giveUpAfterMs ?? service.giveUpAfterSeconds * 1000,
    signal: context.abandon ?? stop.nothingMore,
    onPause: (_, delayMs, isTurnedAway) => {
      if (isTurnedAway) notices?.noteThrottled('HTTP 429 or 503', delayMs);
      else notices?.noteOutage('no good answer came');
    },
  });
  try {
    return await task(call);
  } finally {
    await lane.close();
    areas.note(area);
  }
}

/** Whether a call that is not repeatable was refused because the lock was lost, and so certainly was not done. */
export function isTurnedAway(error: unknown, endpoint: Endpoint<never, unknown>): boolean {
  return isLockLost(error) && !endpoint.isRepeatable;
}
