import type { Clock } from '../../ports/clock.js';
import type { Log, LogFields } from '../../ports/log.js';
import { EXIT } from '../../report/exit-code.js';
import type { StopSwitch } from '../../run/stop.js';
import type { Host } from '../support/deps.js';
import { onFirstSignal } from './signals.js';

/** How long requests in flight are awaited after a first signal. A pod's grace period must be longer. */
export const DRAIN_MS = 30_000;

const LEFT: LogFields = { event: 'end', exitCode: EXIT.again, reason: 'interrupted' };

/** On a first signal nothing new is sent, and what is in flight is awaited; a second one leaves at once. Returns how to stop listening. */
export function drainOnSignal(
  host: Host,
  { log, stop, clock }: { log: Log; stop: StopSwitch; clock: Clock },
): () => void {
  const ended = new AbortController();
  const sayLeft = (name: string) =>
    log.error(`${name} again: stops at once with exit code 75, without waiting for what is in flight`, LEFT);
  const first = (name: string) => {
    log.warn(`${name}: nothing new is sent; waiting for what is in flight (again: stop at once)`);
    stop.request('interrupted', name);
    void clock.sleep(DRAIN_MS, ended.signal).then(() => stop.abandon());
  };
  const off = onFirstSignal(host, first, sayLeft);
  return () => {
    off();
    ended.abort();
  };
}
