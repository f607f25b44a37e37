import type { RunLaneOptions } from '../../src/run/run-deps.js';
import type { Lane, PassGate } from '../../src/throttle/lane.js';
import { LaneStopped } from '../../src/throttle/lane-stopped.js';
import type { SimProcess, Timeline } from './timeline.js';

/** So many at a time, in order; a pause holds them all. Rates are the real lane's affair. */
export function createSimLane({ limits, signal }: RunLaneOptions, timeline: Timeline, process: SimProcess): Lane {
  const waiting: (() => void)[] = [];
  let running = 0;
  let freeAtMs = 0;
  const enter = () =>
    new Promise<void>((resolve) => {
      if (running < limits.concurrency) {
        running += 1;
        resolve();
      } else waiting.push(resolve);
    });
  const leave = () => {
    running -= 1;
    const next = waiting.shift();
    if (next === undefined) return;
    running += 1;
    next();
  };
  const turn = () =>
    new Promise<void>((resolve, reject) => {
      const stop = () => reject(new LaneStopped());
      const pass = () => {
        if (timeline.nowMs < freeAtMs) return timeline.schedule(freeAtMs - timeline.nowMs, pass, process);
        signal.removeEventListener('abort', stop);
        resolve();
      };
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop);
      timeline.schedule(1, pass, process);
    });
  const gate: PassGate = async (preSendCheck) => {
    await turn();
    await preSendCheck?.();
    return undefined;
  };
  return {
    run: async (_cost, task) => {
      await enter();
      try {
        if (signal.aborted) throw new LaneStopped();
        return await task(gate);
      } finally {
        leave();
      }
    },
    pauseFor: (delayMs) => {
      freeAtMs = Math.max(freeAtMs, timeline.nowMs + delayMs);
    },
    slowDown: () => {},
    noteSuccess: () => {},
    close: async () => {},
  };
}
