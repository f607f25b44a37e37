import type { Area } from '../domain.js';
import type { Limits, ServiceSettings } from '../job/job.js';
import { createCaller } from '../service/caller.js';
import type { CallService } from '../service/endpoint.js';
import type { AreaUse } from './area-use.js';
import type { Lock } from './lock.js';
import type { RunDeps } from './ports.js';
import type { StopSwitch } from './stop.js';

/** Runs a task that calls endpoints one by one, on a lane of its own; nothing leaves once the lock is lost. */
export async function callOnLane<T>(
  context: {
    area: Area;
    limits: Limits;
    service: ServiceSettings;
    deps: RunDeps;
    lock: Lock;
    stop: StopSwitch;
    areas: AreaUse;
    /** How long it goes on trying what was not done; `giveUpAfterSeconds` where not given. */
    giveUpAfterMs?: number;
    /** Ends what waits for its turn. */
    signal: AbortSignal;
    /** Ends what is in flight; where not given, when the run awaits nothing more. */
    abandon?: AbortSignal;
  },
  task: (call: CallService) => Promise<T>,
): Promise<T> {
  const { area, limits, service, deps, lock, stop, areas, signal } = context;
  const { clock } = deps;
  const lane = deps.createLane({ limits, lastSentMsAgo: areas.lastSentMsAgo(area, clock.now()), signal });
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
    clock,
    giveUpAfterMs: context.giveUpAfterMs ?? service.giveUpAfterSeconds * 1000,
    signal: context.abandon ?? stop.nothingMore,
  });
  try {
    return await task(call);
  } finally {
    await lane.close();
    areas.note(area, clock.now());
  }
}
