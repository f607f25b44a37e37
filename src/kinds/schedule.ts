import { formatTime, millisecondsOf, type StatedTime } from '../domain/stated-time.js';
import type { Job, SmsTemplate } from '../job/job.js';

/** A time of a step that the service would refuse, or treat as now: the key, what is so, what is expected. */
export interface TimeFault {
  readonly key: string;
  readonly message: string;
}

const DAY_MS = 86_400_000;
/** Documented: how far ahead the service takes a message. */
const MAX_AHEAD_DAYS = 7;
/** The longest time for which the service holds a message. */
export const LONGEST_HELD_MS: number = MAX_AHEAD_DAYS * DAY_MS;

/** Checks the times of a template against the clock. Pure. */
export function findTimeFault(
  { scheduled, expiry }: Pick<SmsTemplate, 'scheduled' | 'expiry'>,
  nowMs: number,
): TimeFault | undefined {
  const describe = (key: string, moment: StatedTime, so: string): TimeFault => ({
    key: `template.${key}`,
    message: `template.${key}, ${formatTime(moment)}, ${so}`,
  });
  if (scheduled !== undefined) {
    const aheadMs = millisecondsOf(scheduled) - nowMs;
    if (aheadMs <= 0) {
      return describe('scheduled', scheduled, 'is in the past, expected a future time: the service would send at once');
    }
    if (aheadMs > MAX_AHEAD_DAYS * DAY_MS) {
      const days = Math.ceil(aheadMs / DAY_MS);
      return describe('scheduled', scheduled, `is ${days} days ahead, expected ${MAX_AHEAD_DAYS} at most`);
    }
  }
  if (expiry === undefined) return undefined;
  if (millisecondsOf(expiry) <= nowMs) return describe('expiry', expiry, 'is in the past, expected a future time');
  if (scheduled !== undefined && millisecondsOf(expiry) <= millisecondsOf(scheduled)) {
    return describe(
      'expiry',
      expiry,
      `is not after template.scheduled, ${formatTime(scheduled)}; expected a later time`,
    );
  }
  return undefined;
}

/** Steps whose messages the service holds for a time that is ahead, the earliest first. */
export function listHeld({ steps }: Pick<Job, 'steps'>, nowMs: number) {
  const held = steps.flatMap((step, index) => {
    const at = step.kind === 'sms' ? step.template.scheduled : undefined;
    return step.kind === 'sms' && at !== undefined ? [{ number: index + 1, step, at, atMs: millisecondsOf(at) }] : [];
  });
  return held.filter(({ atMs }) => atMs > nowMs).sort((one, other) => one.atMs - other.atMs);
}

/** How far ahead a time is, for people: `in 14 h`. */
export function formatAhead(moment: StatedTime, nowMs: number): string {
  const aheadMs = millisecondsOf(moment) - nowMs;
  if (aheadMs <= 0) return 'now or past';
  const minutes = Math.round(aheadMs / 60_000);
  if (minutes === 0) return 'in less than a minute';
  if (minutes < 120) return `in ${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `in ${hours} h` : `in ${Math.floor(hours / 24)} d ${hours % 24} h`;
}
