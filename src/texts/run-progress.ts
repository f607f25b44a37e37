import { format, formatSeconds, listNonZero, sumOf } from '../domain/count-of.js';
import type { Balance } from '../domain/row.js';
import { formatTime } from '../domain/stated-time.js';
import { OpeningHours } from '../hours/window.js';
import { describeOpening, type Opening, zonesOf } from '../hours/zone-groups.js';
import type { RunState } from '../journal/replay.js';
import { listHeld } from '../kinds/schedule.js';
import { type Plan, totalOf } from '../plan/format/plan-file.js';

/** How far a run is, in a sentence; a second one says how long the rest takes, or, while it is closed to all that is left, when that ends. */
export function describeProgress(
  plan: Plan,
  { balance, state, isRunning, nowMs }: { balance: Balance; state: RunState; isRunning: boolean; nowMs: number },
): string {
  const { accepted, unprocessed, inDoubt, rejected } = balance;
  const more = listNonZero({ 'in doubt': inDoubt, 'could not be used': rejected });
  const parts = [`${format(accepted)} accepted`, `${format(unprocessed)} to go`, ...more];
  const head = isRunning ? 'Sending' : `The run is ${state.status === 'finished' ? 'finished' : 'stopped'}`;
  const next = isRunning ? (describeClosed(plan, nowMs) ?? describeLeft(plan, unprocessed)) : undefined;
  return `${head}: ${parts.join(', ')}.${next === undefined ? '' : ` ${next}`}`;
}

/** How long the rest takes at the rate that the limits allow; undefined where it is over before it is read. */
function describeLeft({ steps }: Plan, left: number): string | undefined {
  const estimate = sumOf(steps.map(({ estimateSeconds }) => estimateSeconds));
  const seconds = Math.ceil((estimate * left) / Math.max(1, totalOf({ steps }, 'planned')));
  return seconds < 5 ? undefined : `About ${formatSeconds(seconds)} left.`;
}

/** When the hours begin in which messages may leave; undefined while some may leave now. */
function describeClosed({ steps, job }: Plan, nowMs: number): string | undefined {
  for (const { number, hours } of steps) {
    const step = job.steps[number - 1];
    if (step?.kind !== 'sms' || step.window === undefined || hours === undefined) continue;
    const { window } = step;
    const opening = new OpeningHours(window);
    const next = Object.keys(hours.groups).flatMap((group): Opening[] => {
      const [zone = 'UTC', ...others] = zonesOf(window, group);
      const atMs = opening.findNextOpening([zone, ...others], nowMs, job.service.timeouts.answerSeconds * 1000);
      return atMs === undefined ? [] : [{ group, atMs, zone }];
    });
    const [first] = next.toSorted((one, other) => one.atMs - other.atMs);
    if (first !== undefined && first.atMs > nowMs) return `Messages may not leave now: ${describeOpening(first)}.`;
  }
  return undefined;
}

/** Until when the service holds messages of a run; undefined where it holds none. */
export function findHeldUntil({ job }: Plan, nowMs: number): string | undefined {
  const last = listHeld(job, nowMs).at(-1);
  return last && formatTime(last.at);
}
