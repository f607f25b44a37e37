import type { RunState } from '../journal/replay.js';
import type { Clock } from '../ports/clock.js';
import type { Lock } from '../storage/lock.js';

/** A worker that was let begin a request sends it within this time, or not without asking again whether the run is led. */
export const BEGUN_FOR_MS = 10_000;
/** For the way to the service. */
const CONNECT_MS = 10_000;
/** The last owner of the lock may have been at work for as long after it last wrote it, by a clock that differs a little. */
const AFTER_RENEWAL_MS = 300_000;

/** What a process finds of a run that others may have led. */
interface LedBefore
  extends Pick<RunState, 'leaseMs' | 'isInFlight'>,
    Pick<Lock, 'lastRenewedAt' | 'lastWrittenMsAgo'> {}

/**
 * Of a run that this process does not send over its database: waits until no worker sends what a leader before it had handed over.
 * At once where nothing was. False where `signal` aborts before.
 */
export async function awaitWorkers(
  led: LedBefore,
  { clock, onNotice, signal }: { clock: Clock; onNotice: (notice: string) => void; signal?: AbortSignal },
): Promise<boolean> {
  const nowMs = clock.now();
  const waitMs = workersEndInMs(led, nowMs);
  if (waitMs <= 0) return true;
  const until = new Date(nowMs + waitMs).toISOString();
  onNotice(`waits until ${until}: until then workers of the database may still send what they were given of the run`);
  await clock.sleep(waitMs, signal);
  return signal?.aborted !== true;
}

/**
 * When no worker sends any more of it: when the lease of the last leader in the database has ended, and requests that had begun by then
 * have left. 0 where nothing was handed over.
 */
function workersEndInMs({ leaseMs, isInFlight, lastRenewedAt, lastWrittenMsAgo }: LedBefore, nowMs: number): number {
  if (leaseMs === undefined || !isInFlight) return 0;
  // By two clocks, the later counts: that of the last owner may be hours off.
  const byDiskMs = lastWrittenMsAgo === undefined ? 0 : nowMs - lastWrittenMsAgo;
  const lastLedMs = Math.min(nowMs, Math.max((lastRenewedAt ?? nowMs) + AFTER_RENEWAL_MS, byDiskMs));
  return Math.max(0, lastLedMs + leaseMs + BEGUN_FOR_MS + CONNECT_MS - nowMs);
}
