import { expect, test } from 'vitest';
import { sameVerdictForAll } from '../../../src/kinds/outcomes.js';
import { RUN_ENDED } from '../../../src/registry/append-to-run.js';
import {
  AGAIN,
  aPart,
  aRun,
  aWorker,
  LEASE_MS,
  noteTaken,
  type OpenCluster,
  readNews,
  SETTLED,
  SPLIT,
} from './cluster-under-test.js';

const LOST_AGAIN = { kind: 'again', why: 'the run ended before the answer came' };
const LOST_IN_DOUBT = { kind: 'settled', outcomes: sameVerdictForAll(2, RUN_ENDED) };

/** What the store does when workers are lost. */
export function testLosing(open: OpenCluster): void {
  test('what a lost worker had claimed and not begun is open again', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2)] });
    await (await aWorker(cluster, 'lost')).claim(2);
    expect(await store.recover()).toBe(0);
    await cluster.passTime(LEASE_MS);
    const next = await aWorker(cluster, 'next');
    expect([await next.store.recover(), await store.recover()]).toEqual([2, 0]);
    expect(await readNews(store, lead)).toMatchObject({ open: 2, claimed: 0, ended: [], workers: 1 });
    expect(await next.claim(2)).toMatchObject([{ attempt: 0 }, { attempt: 0 }]);
  });

  test.each([
    ['again', { open: 1, ended: [{ result: LOST_AGAIN }] }],
    ['in-doubt', { open: 0, ended: [{ result: LOST_IN_DOUBT }] }],
    ['query', { open: 1, ended: [] }],
  ] as const)('what a lost worker had begun becomes what the step says: %s', async (onLost, news) => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { onLost });
    const lost = await aWorker(cluster, 'lost');
    await lost.claim(1);
    await lost.begin();
    await cluster.passTime(LEASE_MS);
    await store.recover();
    expect(await readNews(store, lead)).toMatchObject({ ...news, claimed: 0, underWay: 0 });
    expect(await lost.begin({ attempt: 2 })).toMatchObject({ refused: [0] });
  });

  test('who claims what is in flight settles the attempt of the lost worker, then may begin the next', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { onLost: 'query' });
    const lost = await aWorker(cluster, 'lost');
    await lost.claim(1);
    await lost.begin();
    await cluster.passTime(LEASE_MS);
    await store.recover();
    const next = await aWorker(cluster, 'next');
    expect(await next.claim(1)).toMatchObject([{ isInFlight: true, attempt: 1, nonce: 'of lost' }]);
    expect(await next.begin({ attempt: 2 })).toMatchObject({ refused: [0] });
    await next.end(AGAIN, {}, 'of lost');
    expect(await readNews(store, lead)).toMatchObject({ ended: [{ attempt: 1, result: AGAIN }] });
    expect(await next.begin({ attempt: 2 })).toMatchObject({ refused: [] });
    // What the lost one writes now comes too late.
    await lost.end(SETTLED);
    expect(await readNews(store, lead)).toMatchObject({ underWay: 1, ended: [] });
  });

  test('the answer of a worker that was taken for lost counts, where no one has asked the service yet', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2)], onLost: 'query' });
    const lost = await aWorker(cluster, 'lost');
    await lost.claim(2);
    for (const request of [1, 2]) await lost.begin({ request });
    await cluster.passTime(LEASE_MS);
    await store.recover();
    await lost.end(SPLIT, { request: 1 });
    await lost.end(AGAIN, { request: 2 });
    await store.recover();
    expect(await readNews(store, lead)).toMatchObject({ open: 3, claimed: 0, underWay: 0 });
    const parts = await (await aWorker(cluster, 'next')).claim(3);
    expect(parts.map(({ request, part, attempt, isInFlight }) => [request, part, attempt, isInFlight])).toEqual([
      [1, '0', 0, false],
      [1, '1', 0, false],
      [2, '', 1, false],
    ]);
  });

  test.each([
    ['in-doubt', { open: 0, ended: [{ result: LOST_IN_DOUBT }] }],
    ['again', { open: 1, ended: [{ result: LOST_AGAIN }] }],
  ] as const)('once %s was written for a lost worker, its answer changes nothing', async (onLost, news) => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { onLost });
    const lost = await aWorker(cluster, 'lost');
    await lost.claim(1);
    await lost.begin();
    await cluster.passTime(LEASE_MS);
    await store.recover();
    for (const result of [AGAIN, SPLIT, SETTLED]) await lost.end(result);
    const { ended, ...counts } = await readNews(store, lead);
    expect({ ended, ...counts }).toMatchObject(news);
    await noteTaken(store, lead, ended);
    await lost.end(SETTLED);
    expect((await readNews(store, lead)).ended).toEqual([]);
  });

  test('a worker that was paused beyond its lease begins nothing, whether or not another has its parts', async () => {
    const cluster = await open();
    const { store } = await aRun(cluster, { parts: [aPart(1), aPart(2)], onLost: 'again' });
    const paused = await aWorker(cluster, 'paused');
    await paused.claim(2);
    await paused.begin({ request: 1 });
    await cluster.passTime(LEASE_MS);
    expect(await paused.begin({ request: 2 })).toMatchObject({ refused: [0] });
    expect(await paused.begin({ request: 1 })).toMatchObject({ refused: [0] });
    await store.recover();
    const next = await aWorker(cluster, 'next');
    await next.claim(2);
    await next.begin({ request: 2 });
    expect(await paused.begin({ request: 2 })).toMatchObject({ refused: [0] });
    await paused.end(SETTLED, { request: 2 });
    expect((await readNews(store, { run: 'run-a', epoch: 1 })).underWay).toBe(1);
  });
}
