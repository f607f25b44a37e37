import { isDay } from '../plan/occurrence.js';
import type { BegunRun, RegistryState } from './registry-state.js';

const HOUR_MS = 3_600_000;

/** A scheduler gives the same command again within minutes or hours, and a person by the next afternoon; the next night is later. */
const SAME_NIGHT_MS = 20 * HOUR_MS;

/** A pod that was refused, as another had the job, or that was killed as it ended, is started again by then. */
const STARTED_AGAIN_MS = HOUR_MS;

/** Else new files of each hour would put off the new day without end. */
const LAST_BEGIN_MS = 13 * HOUR_MS;

/**
 * Of whose day a start of a job of every day is: the run that the same command has resumed, or that ended within the hour, where it is of
 * the same night. Else a run that stopped, or ended, about midnight would be followed at once by one more message to everyone.
 * `startedAt`: when the command was started, which may have stood by since.
 */
export function findSameNight(
  { runs }: Pick<RegistryState, 'runs'>,
  { resumed, startedAt, nowMs }: { resumed: readonly string[]; startedAt: number; nowMs: number },
): BegunRun | undefined {
  return [...runs.values()].findLast(({ plan, begun, ended }) => {
    const isWhole = begun.retryOf === null && begun.testOf === undefined && isDay(begun.occurrence);
    if (!isWhole || !isOfNight(begun.at, { startedAt, nowMs })) return false;
    if (resumed.includes(plan)) return true;
    const beganInTime = begun.at - noonOf(begun.occurrence) < LAST_BEGIN_MS;
    return beganInTime && ended?.state === 'finished' && isJustOver(ended.endedAt, startedAt);
  });
}

/** Whether a run that began then is of the night of a start. One that a clock dates into the future, as it was ahead, is of none. */
export function isOfNight(begunAt: number, { startedAt, nowMs }: { startedAt: number; nowMs: number }): boolean {
  return startedAt - begunAt < SAME_NIGHT_MS && begunAt - nowMs < HOUR_MS;
}

/** Noon of a day. */
export function noonOf(occurrence: string): number {
  return Date.parse(`${occurrence}T12:00`);
}

function isJustOver(endedAt: string | null, startedAt: number): boolean {
  return endedAt !== null && startedAt - Date.parse(endedAt) < STARTED_AGAIN_MS;
}
