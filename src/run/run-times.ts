import { UserError } from '../domain/errors.js';
import type { NotSent } from '../domain/row.js';
import { formatTime, millisecondsOf, type StatedTime } from '../domain/stated-time.js';
import { type Opening, OpeningHours, SEARCHED_MS, type Window, zonesOf } from '../hours/window.js';
import type { Job } from '../job/job.js';
import type { RunState } from '../journal/replay.js';
import { formatAhead } from '../kinds/schedule.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { StopSwitch } from './stop.js';

/** A wall clock may be set while we sleep. */
const MAX_SLEEP_MS = 60_000;

/** Throws UserError 'not-yet' where the job may not send before a later time. */
export function assertDue({ name, notBefore }: Pick<Job, 'name' | 'notBefore'>, clock: Clock): void {
  if (notBefore === undefined || millisecondsOf(notBefore) <= clock.now()) return;
  throw new UserError(
    'not-yet',
    `Cannot run job ${name} before ${formatTime(notBefore)} (notBefore), which is ${formatAhead(notBefore, clock.now())}`,
    { hint: 'Nothing was sent. Run the same command then, or with --wait, which waits for that time.' },
  );
}

/** For `--wait`: returns once the job may send. Throws UserError 'interrupted' where the stop is requested before that. */
export async function waitUntilDue(
  { name, notBefore }: Pick<Job, 'name' | 'notBefore'>,
  { log, clock, stop }: { log: Log; clock: Clock; stop: StopSwitch },
): Promise<void> {
  if (notBefore === undefined || millisecondsOf(notBefore) <= clock.now()) return;
  log.info(`waiting until ${formatTime(notBefore)} (notBefore), ${formatAhead(notBefore, clock.now())}`, {
    event: 'waiting',
  });
  await sleepUntil(millisecondsOf(notBefore), clock, stop.nothingNew);
  if (millisecondsOf(notBefore) <= clock.now()) return;
  const what = stop.reason?.detail ?? 'a signal';
  throw new UserError(
    'interrupted',
    `Cannot run job ${name}: ${what} came while it waited until ${formatTime(notBefore)} (notBefore)`,
    { hint: 'Nothing was sent. The same command waits again.' },
  );
}

/** Whether the time has passed after which the job may not send. */
export function isOver({ notAfter }: Pick<Job, 'notAfter'>, clock: Clock): boolean {
  return notAfter !== undefined && millisecondsOf(notAfter) <= clock.now();
}

/** Stops a run at the time after which the job may not send. Returns a function that forgets about it. */
export function stopAfter({ notAfter }: Pick<Job, 'notAfter'>, stop: StopSwitch, clock: Clock): () => void {
  if (notAfter === undefined) return () => {};
  const forgotten = new AbortController();
  const end = () => {
    if (!forgotten.signal.aborted) stop.request('guard', `notAfter, ${formatTime(notAfter)}, has passed`);
  };
  if (isOver({ notAfter }, clock)) end();
  else void sleepUntil(millisecondsOf(notAfter), clock, forgotten.signal).then(end);
  return () => forgotten.abort();
}

export async function sleepUntil(atMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let leftMs = atMs - clock.now(); leftMs > 0 && !signal.aborted; leftMs = atMs - clock.now()) {
    await clock.sleep(Math.min(leftMs, MAX_SLEEP_MS), signal);
  }
}

/** A worker that was let begin a request sends it within this time, or not without asking again whether the run is led. */
export const BEGUN_FOR_MS = 10_000;
/** The most time that a connection to the service takes. */
const CONNECT_MS = 10_000;

/**
 * Waits, before this process sends a run without its database, until no worker sends what a leader had handed over there; the leader may
 * have renewed its lease until now. Returns at once where nothing was handed over. False where `signal` aborts before.
 */
export async function awaitWorkers(
  { leaseMs, isInFlight }: Pick<RunState, 'leaseMs' | 'isInFlight'>,
  { clock, onNotice, signal }: { clock: Clock; onNotice: (notice: string) => void; signal?: AbortSignal },
): Promise<boolean> {
  if (leaseMs === undefined || !isInFlight) return true;
  const waitMs = leaseMs + BEGUN_FOR_MS + CONNECT_MS;
  const until = new Date(clock.now() + waitMs).toISOString();
  onNotice(`waits until ${until}: until then workers of the database may still send what they were given of the run`);
  await clock.sleep(waitMs, signal);
  return signal?.aborted !== true;
}

/** Says of rows that they were not sent by the time after which their job may not send. */
export function tooLate(notAfter: StatedTime, so: 'had passed' | 'comes before the window opens again'): NotSent {
  return { status: 'not-sent', code: 'too-late', reason: `notAfter, ${formatTime(notAfter)}, ${so}` };
}

/** When the requests of a step with a window may leave: with room for the answer, as the service may send until it comes. */
export function createSendingHours(
  window: Window,
  clock: Pick<Clock, 'now'>,
  { answerSeconds }: { answerSeconds: number },
) {
  const hours = new OpeningHours(window);
  const roomMs = answerSeconds * 1000;
  return {
    outside: window.outside,
    /** A request that names no hours may never leave. */
    isOpenFor: (group: string | undefined): boolean =>
      hours.isOpen(group === undefined ? [] : zonesOf(window, group), clock.now(), roomMs),
    /** Whether the window opens before a time; where no opening was found, it does not within the time that is looked ahead. */
    opensBefore: (opening: Opening | undefined, atMs: number): boolean =>
      (opening?.atMs ?? clock.now() + SEARCHED_MS) < atMs,
    /** The first of these groups that opens again; undefined where none does in 14 days. */
    findNext: (groups: Iterable<string>): Opening | undefined => {
      const nowMs = clock.now();
      let next: Opening | undefined;
      for (const group of groups) {
        const zones = zonesOf(window, group);
        const atMs = hours.findNextOpening(zones, nowMs, roomMs);
        if (atMs !== undefined && (next === undefined || atMs < next.atMs))
          next = { group, atMs, zone: zones[0] ?? '' };
      }
      return next;
    },
  };
}
