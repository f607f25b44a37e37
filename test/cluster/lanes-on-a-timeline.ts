import { setMaxListeners } from 'node:events';
import { createSharedLane, ServerClock } from '../../src/cluster/shared-lane.js';
import type { Clock } from '../../src/ports/clock.js';
import { createRandom } from '../../src/sandbox/random.js';
import { coalesce } from '../../src/storage/group-commit.js';
import { Timeline } from '../world/timeline.js';
import { MemoryCluster } from './memory-store.js';

interface Achieved {
  /** Of the limit. */
  readonly share: number;
  /** The most that left within one second. */
  readonly worst: number;
  /** The least that one lane got, of an equal part. */
  readonly leastPart: number;
  /** What its processes said of it, and when. */
  readonly said: readonly { readonly atMs: number; readonly text: string }[];
}

type Load = Readonly<{ perSecond: number; callMs?: number; seconds?: number; concurrency?: number }>;

/** So many processes, always with requests to send, on one lane of a store whose calls take `callMs`, more or less. */
export async function runLanes(lanes: number, load: Load): Promise<Achieved> {
  const { perSecond, callMs = 2, seconds = 120, concurrency = 16 } = load;
  const random = createRandom(lanes, perSecond);
  const timeline = new Timeline(createRandom(lanes, perSecond + 1));
  const clock = clockOf(timeline);
  const { sleep } = clock;
  const store = new MemoryCluster(clock).connect();
  const travel = (share: number) => sleep(callMs * share * (1 + random() * 0.2));
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const left: number[][] = [];
  const said: Achieved['said'][number][] = [];
  const onReach = (text: string) => said.push({ atMs: timeline.nowMs, text });
  const limits = {
    requestsPerSecond: perSecond,
    messagesPerSecond: undefined,
    segmentsPerSecond: undefined,
    concurrency,
  };
  for (let index = 0; index < lanes; index++) {
    const own: number[] = [];
    // Ways there and back differ.
    const there = 0.1 + 0.8 * random();
    // One call at a time: what comes meanwhile waits for the next, as intents and outcomes do.
    const keep = coalesce(async () => {
      await travel(there);
      await travel(1 - there);
    });
    left.push(own);
    const book: typeof store.book = async (...args) => {
      await travel(there);
      const booked = await store.book(...args);
      await travel(1 - there);
      return booked;
    };
    const lane = createSharedLane({
      ...{ store: { book }, name: 'sms', server: new ServerClock(), limits, clock, random },
      ...{ signal: stopping.signal, giveUpAfterMs: 900_000, onReach },
    });
    const send = async () => {
      while (!stopping.signal.aborted) {
        await lane.run({ messages: 1, segments: 1 }, async (gate) => {
          await keep();
          await gate();
          own.push(timeline.nowMs);
          await sleep(100 + random() * 80);
          await keep();
        });
      }
    };
    for (let slot = 0; slot < concurrency; slot++) send().catch(() => {});
  }
  const fromMs = 5_000;
  const endMs = fromMs + seconds * 1000;
  await timeline.runUntil(() => timeline.nowMs >= endMs);
  stopping.abort();
  const counts = left.map((own) => own.filter((atMs) => atMs >= fromMs).length);
  const sum = counts.reduce((all, count) => all + count, 0);
  return {
    share: sum / (perSecond * seconds),
    worst: mostInSecond(left.flat()),
    leastPart: (Math.min(...counts) * lanes) / sum,
    said,
  };
}

export function clockOf(timeline: Timeline): Clock {
  return {
    now: () => 1_795_000_000_000 + timeline.nowMs,
    monotonicMs: () => timeline.nowMs,
    sleep: (delayMs, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const finish = () => {
          signal?.removeEventListener('abort', finish);
          resolve();
        };
        signal?.addEventListener('abort', finish);
        timeline.schedule(delayMs, finish);
      }),
  };
}

export function mostInSecond(times: readonly number[]): number {
  const inOrder = times.toSorted((one, other) => one - other);
  let first = 0;
  let most = 0;
  for (const [index, atMs] of inOrder.entries()) {
    while ((inOrder[first] ?? atMs) <= atMs - 1000) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}
