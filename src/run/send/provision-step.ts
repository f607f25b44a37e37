import { ServiceError } from '../../domain/errors.js';
import type { Provisioning } from '../../kinds/step-kind.js';
import type { CallService } from '../../service/endpoint.js';
import { isLockLost } from '../../storage/lock.js';
import { callOnLane, isTurnedAway } from './call-on-lane.js';
import type { StepContext } from './send-context.js';

/**
 * Creates what a step needs before its first request, each thing once per run. Undefined: it could not, and the run
 * stops. If the outcome of a creating call is unknown (lost answer, dead process), the thing may exist: the run stops
 * to report that, and the next one creates it again.
 */
export async function provisionStep(context: StepContext): Promise<readonly string[] | undefined> {
  const { deps, journal, kind, planned, progress, step } = context;
  const { provisioning } = kind;
  if (provisioning === undefined || !provisioning.isNeeded(step)) return [];
  if (progress.preparing !== undefined) {
    await stopForUnknownId(context, 'the run ended before its answer came');
    return undefined;
  }
  let ids = progress.prepared ?? [];
  for (const make of provisioning.makers.slice(ids.length)) {
    const id = await makeOne(context, make, ids);
    if (id === undefined) return undefined;
    ids = [...ids, id];
    await journal.append({ type: 'prepared', step: planned.number, at: deps.clock.now(), ids });
  }
  return ids;
}

async function makeOne(
  context: StepContext,
  make: Provisioning<StepContext['step']>['makers'][number],
  made: readonly string[],
): Promise<string | undefined> {
  const { deps, journal, kind, lock, planned, step, stop } = context;
  await lock.assertHeld();
  try {
    return await callOnLane({ ...context, area: kind.area, limits: step.limits, signal: stop.nothingNew }, (call) =>
      make(step, noteEachCall(call, context), made),
    );
  } catch (error) {
    const failure = error instanceof ServiceError ? error : undefined;
    if (failure?.code === 'in-doubt') {
      await stopForUnknownId(context, failure.message);
      return undefined;
    }
    // A stopped lane has sent nothing of what it rejects.
    if (failure === undefined && (!stop.isRequested || isLockLost(error))) throw error;
    await journal.append({ type: 'unprepared', step: planned.number, at: deps.clock.now(), why: 'not-made' });
    if (failure === undefined) return undefined;
    const { code, message, fault } = failure;
    const reason = code === 'refused' || code === 'bad-answer' ? 'refused' : code;
    stop.request(reason, `step ${planned.number} (${step.kind}): ${message}`, fault);
    return undefined;
  }
}

function noteEachCall(call: CallService, { deps, journal, planned }: StepContext): CallService {
  return async (endpoint, input) => {
    const what = `${endpoint.name}${describeName(input)}`;
    await journal.append({ type: 'preparing', step: planned.number, at: deps.clock.now(), what });
    return call(endpoint, input).catch(async (error: unknown) => {
      if (isTurnedAway(error, endpoint)) {
        await journal.append({ type: 'unprepared', step: planned.number, at: deps.clock.now(), why: 'not-made' });
      }
      throw error;
    });
  };
}

function describeName(input: unknown): string {
  const isNamed = typeof input === 'object' && input !== null && 'name' in input;
  return isNamed ? ` ${JSON.stringify(input.name)}` : '';
}

/** A run that stops for another reason does not report this one: it stays open for the next run. */
async function stopForUnknownId(context: StepContext, why: string): Promise<void> {
  const { deps, journal, planned, progress, step, stop } = context;
  const detail =
    `step ${planned.number} (${step.kind}): the call to ${progress.preparing?.what} may have succeeded, but its id is unknown ` +
    `(${why}). The same command creates it again`;
  stop.request('refused', detail, 'unknown-id');
  if (stop.reason?.detail !== detail) return;
  await journal.append({ type: 'unprepared', step: planned.number, at: deps.clock.now(), why: 'unknown' });
}
