import type { Clock } from './clock.js';

/** On both clocks: the monotonic one stands still while a machine sleeps, the wall clock may be set back. */
export interface Moment {
  readonly monotonicMs: number;
  readonly atMs: number;
}

/** Any time since has been too long. */
export const NEVER: Moment = { monotonicMs: Number.NEGATIVE_INFINITY, atMs: Number.NEGATIVE_INFINITY };

export function readMoment(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), atMs: clock.now() };
}

/** At least so much time has passed since, by one of the clocks. */
export function ageMs(clock: Clock, { monotonicMs, atMs }: Moment): number {
  return Math.max(clock.monotonicMs() - monotonicMs, clock.now() - atMs);
}
