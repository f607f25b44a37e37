import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { createSharedLane, ServerClock } from '../../src/cluster/shared-lane.js';
import { systemClock } from '../../src/ports/clock.js';
import { startDatabaseProxy } from './database-proxy.js';
import { mostInSecond } from './lanes-on-a-timeline.js';
import { connectTo, type PostgresServer, startPostgres } from './postgres-server.js';

const FROM_MS = 3_000;
const FOR_MS = Number(process.env.FAR_SECONDS ?? 4) * 1000;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});

/** Lanes of so many processes, each with its connections, over the real clock; the intent is one more call. */
async function runFar({ answerMs, perSecond, lanes }: { answerMs: number; perSecond: number; lanes: number }) {
  const proxy = await startDatabaseProxy(server.directory, [], { answerMs });
  const url = proxy.url(await server.createVolleyDatabase());
  const stopping = new AbortController();
  const concurrency = Math.max(8, Math.ceil((perSecond * 0.9) / lanes));
  const limits = {
    requestsPerSecond: perSecond,
    messagesPerSecond: undefined,
    segmentsPerSecond: undefined,
    concurrency,
  };
  const left = Array.from({ length: lanes }, (): number[] => []);
  const stores = await Promise.all(left.map(() => connectTo(url)));
  const startMs = performance.now();
  const sending = left.flatMap((own, index) => {
    const store = stores[index]!;
    const options = {
      name: 'sms',
      server: new ServerClock(),
      limits,
      clock: systemClock,
      random: Math.random,
      signal: stopping.signal,
      giveUpAfterMs: 900_000,
      onReach: () => {},
    };
    const lane = createSharedLane({ ...options, store });
    const send = async () => {
      while (!stopping.signal.aborted) {
        await lane.run({ messages: 1, segments: 1 }, async (gate) => {
          await sleep(answerMs);
          await gate();
          own.push(performance.now());
          await sleep(100);
        });
      }
    };
    return Array.from({ length: concurrency }, () => send().catch(() => {}));
  });
  await sleep(FROM_MS + FOR_MS);
  stopping.abort();
  await Promise.all(sending);
  await Promise.all(stores.map((store) => store.close()));
  await proxy.close();
  const times = left.map((own) => own.filter((atMs) => atMs >= startMs + FROM_MS));
  const sum = times.reduce((all, own) => all + own.length, 0);
  const least = Math.min(...times.map((own) => own.length));
  return {
    share: (sum * 1000) / FOR_MS / perSecond,
    worst: mostInSecond(left.flat()),
    leastPart: (least * lanes) / sum,
  };
}

const all = process.env.FAR_ALL === '1';
const cases = (all ? [0.3, 5, 25, 50, 100] : [0.3, 100]).flatMap((answerMs) =>
  (all ? [10, 25, 200, 1800] : [100]).flatMap((perSecond) =>
    (all ? [1, 2, 4, 8] : [3]).map((lanes) => [answerMs, perSecond, lanes] as const),
  ),
);

test.each(cases)(
  'over a PostgreSQL that answers in %d ms, at %i a second, %i processes use the limit and never go beyond it',
  async (answerMs, perSecond, lanes) => {
    const { share, worst, leastPart } = await runFar({ answerMs, perSecond, lanes });
    if (all)
      process.stdout.write(
        `${[answerMs, perSecond, lanes, share.toFixed(3), worst, leastPart.toFixed(2)].join(' ')}\n`,
      );
    expect(worst).toBeLessThanOrEqual(perSecond);
    // Where other work leaves the processor alone, 0.9 and more.
    expect(share).toBeGreaterThan(0.5);
  },
);
