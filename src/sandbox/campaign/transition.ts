/** What can be asked of a campaign. */
export const REQUESTED_STATUSES = ['RUNNING', 'PAUSED', 'PURGED', 'STOPPED'] as const;
export type RequestedStatus = (typeof REQUESTED_STATUSES)[number];

/** Groups the twelve numbers for a requested change. */
type Phase = 'new' | 'running' | 'paused' | 'purged' | 'stopped';

/**
 * The contract gives the numbers their meaning and does not say which of them a change sees alike. Here every started
 * campaign counts as running, also 2, whose time has not come: it can be paused and stopped, and is not new any more.
 */
const PHASES: readonly Phase[] = [
  'new', // 0 New
  'running', // 1 Manual Started
  'running', // 2 Scheduled
  'running', // 3 Manual Running
  'running', // 4 Schedule Running
  'stopped', // 5 Manual Stopped
  'stopped', // 6 Completed (Stopped)
  'stopped', // 7 Schedule Stopped
  'paused', // 8 Manual Paused
  'paused', // 9 Schedule Paused
  'purged', // 10 Manual Purged
  'purged', // 11 Schedule Purged
];

/** Highest number of a status; the lowest is 0. */
export const MAX_STATUS = PHASES.length - 1;

/** From the service's documentation; nothing leads out of stopped. */
const ALLOWED_FROM: Readonly<Record<RequestedStatus, readonly Phase[]>> = {
  RUNNING: ['new', 'paused', 'purged'],
  PAUSED: ['running'],
  PURGED: ['paused'],
  STOPPED: ['running', 'paused', 'purged'],
};

/** The manual ones, since a request is a manual action. */
const RESULTING: Readonly<Record<RequestedStatus, number>> = { RUNNING: 3, PAUSED: 8, PURGED: 10, STOPPED: 5 };

/** Texts of the service's documentation. */
const STOPPED_TEXT = 'Campaign is already stopped or completed. No operation is allowed.';
const NOT_ALLOWED_TEXT = 'Invalid state transition.';

/** The number of the status that follows, or why the change is refused. */
export type Transition = { readonly status: number } | { readonly refusal: string };

/** `from` is a number of 0 to `MAX_STATUS`. */
export function findTransition(from: number, requested: RequestedStatus): Transition {
  const phase = PHASES[from];
  if (phase === 'stopped') return { refusal: STOPPED_TEXT };
  if (phase === undefined || !ALLOWED_FROM[requested].includes(phase)) return { refusal: NOT_ALLOWED_TEXT };
  return { status: RESULTING[requested] };
}

export function isRequestedStatus(value: unknown): value is RequestedStatus {
  return REQUESTED_STATUSES.some((status) => status === value);
}
