import { ServiceError } from '../errors.js';
import { callOnLane } from './call-on-lane.js';
import type { StepContext } from './contexts.js';

/** Makes what a step needs before its first request, each thing once per run. Undefined: it could not, and the run is told to stop. */
export async function prepareStep(context: StepContext): Promise<readonly string[] | undefined> {
  const { deps, journal, kind, lock, planned, progress, step, stop } = context;
  const { preparation } = kind;
  if (preparation === undefined || !preparation.isNeeded(step)) return [];
  let ids = progress.prepared ?? [];
  try {
    for (const make of preparation.makers.slice(ids.length)) {
      await lock.assertHeld();
      const made = ids;
      const id = await callOnLane(
        { ...context, area: kind.area, limits: step.limits, signal: stop.nothingNew },
        (call) => make(step, call, made),
      );
      ids = [...made, id];
      await journal.append({ type: 'prepared', step: planned.number, at: deps.clock.now(), ids });
    }
    return ids;
  } catch (error) {
    if (error instanceof ServiceError) {
      const isRefusal = error.code === 'refused' || error.code === 'bad-answer' || error.code === 'in-doubt';
      stop.request(isRefusal ? 'refused' : error.code, `step ${planned.number} (${step.kind}): ${error.message}`);
    } else if (!stop.isRequested) throw error;
    return undefined;
  }
}
