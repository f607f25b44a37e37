import { isDay, type RunEnded } from '../plan/format/run-record.js';
import type { BegunRun, RegistryState } from './registry-state.js';

const HOUR_MS = 3_600_000;

/** A scheduler gives the same command again within minutes or hours, and a person by the next afternoon; the next night is later. */
const SAME_NIGHT_MS = 20 * HOUR_MS;

/** A pod that was refused, as another had the job, or that was killed as it ended, is started again by then. */
const STARTED_AGAIN_MS = HOUR_MS;

const HALF_DAY_MS = 12 * HOUR_MS;

/** From noon of its day: a run that began later gives its day to no new start, else new files of each hour would put off the new day without end. */
const LAST_BEGIN_MS = 13 * HOUR_MS;

/** When a command was started, and the time now: it may have stood by, or finished another run, since. */
interface Start {
  readonly startedAt: number;
  readonly nowMs: number;
}

/**
 * Finds the run of the same night whose day a start of a daily job belongs to: one that the same command has resumed, or that ended within
 * the hour. Otherwise a run that stopped, or ended, about midnight would be followed at once by one more message to everyone.
 */
export function findSameNight(
  registry: Pick<RegistryState, 'runs'>,
  { resumed, ...start }: Start & { readonly resumed: readonly string[] },
): BegunRun | undefined {
  return listOfNight(registry, start).findLast(({ plan, begun, ended }) => {
    if (!isDay(begun.occurrence)) return false;
    if (resumed.includes(plan)) return true;
    const beganInTime = begun.at - noonOf(begun.occurrence) < LAST_BEGIN_MS;
    // A clock that was ahead for a night would keep the job from sending until that day.
    if (begun.at - start.nowMs >= HALF_DAY_MS) return false;
    return beganInTime && ended?.state === 'finished' && isJustOver(ended, start.startedAt);
  });
}

/** The runs with files of their own that are of the night of a start, or later by a clock that was ahead. */
export function listOfNight(
  { runs }: Pick<RegistryState, 'runs'>,
  { startedAt }: Pick<Start, 'startedAt'>,
): BegunRun[] {
  return [...runs.values()].filter(({ begun }) => {
    const isWhole = begun.retryOf === null && begun.testOf === undefined;
    return isWhole && startedAt - begun.at < SAME_NIGHT_MS;
  });
}

/** A run of the same day that began so long before a start that this may be meant for another day. */
export function isEarly({ begun }: BegunRun, startedAt: number): boolean {
  return startedAt - begun.at >= HALF_DAY_MS;
}

/** Noon of a day. */
export function noonOf(occurrence: string): number {
  return Date.parse(`${occurrence}T12:00`);
}

function isJustOver({ at, endedAt }: RunEnded, startedAt: number): boolean {
  const overAt = at ?? Date.parse(endedAt ?? '');
  return startedAt - overAt < STARTED_AGAIN_MS;
}
