import { expect, test } from 'vitest';
import { aPart, aRun, aWorker, NEW_LEAD, type OpenCluster, openStep, readNews, SETTLED } from './cluster-under-test.js';

/** Shorter than that of a worker, so that it ends alone. */
const LEASE = { leaseMs: 300_000 };

/** What the lease of a leader is good for. */
export function testLeaderLease(open: OpenCluster): void {
  test('nothing is claimed or begun once the lease of the leader has ended; what is under way ends', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2), aPart(3)] });
    await openStep(store, lead, LEASE);
    const worker = await aWorker(cluster, 'w');
    await worker.claim(2);
    await worker.begin({ request: 1 });
    await cluster.passTime(LEASE.leaseMs);
    expect(await store.findRun({})).toBeUndefined();
    const ask = { count: 1, holding: [{ step: 1, request: 2, part: '' }] };
    expect(await worker.store.claim(worker.key, ask)).toEqual({ parts: [], isOpen: false });
    expect(await worker.begin({ request: 2 })).toMatchObject({ refused: [0] });
    // Its reply was lost: it has begun.
    expect(await worker.begin({ request: 1 })).toMatchObject({ refused: [] });
    await worker.end(SETTLED, { request: 1 });
    expect(await store.hasRuns({})).toBe(true);

    const next = { ...lead, epoch: 2 };
    await store.lead(next, NEW_LEAD);
    expect(await worker.begin({ request: 2 })).toMatchObject({ refused: [0] });
    await openStep(store, next, LEASE);
    expect(await worker.begin({ request: 2 })).toMatchObject({ refused: [] });
    expect(await worker.store.claim(worker.key, ask)).toMatchObject({ parts: [{ request: 3 }], isOpen: true });
    expect(await readNews(store, next)).toMatchObject({ ended: [{ request: 1 }], underWay: 1, openStep: 1 });
  });

  test('news renew the lease of the leader, also one that has ended', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2)] });
    await openStep(store, lead, LEASE);
    const worker = await aWorker(cluster, 'w');
    for (const request of [1, 2]) {
      await cluster.passTime(LEASE.leaseMs - 10_000);
      await readNews(store, lead, 1, LEASE.leaseMs);
      await worker.store.beat('w', { name: 'host', leaseMs: 600_000, life: undefined });
      expect(await worker.claim(1)).toMatchObject([{ request }]);
      expect(await worker.begin({ request })).toMatchObject({ refused: [] });
    }
    await cluster.passTime(LEASE.leaseMs);
    expect(await store.findRun({})).toBeUndefined();
    await readNews(store, lead, 1, LEASE.leaseMs);
    expect(await store.findRun({})).toMatchObject({ run: 'run-a' });
  });

  test('what a leader has sent long ago, and arrives now, is no sign that it lives', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    const { atMs } = await store.readServer();
    const late = { seenAtMs: atMs - LEASE.leaseMs };
    await openStep(store, lead, { ...LEASE, ...late });
    expect(await store.findRun({})).toBeUndefined();
    await store.readNews(lead, { limit: 1, ...LEASE, ...late });
    expect(await store.findRun({})).toBeUndefined();
    await readNews(store, lead, 1, LEASE.leaseMs);
    expect(await store.findRun({})).toMatchObject({ run: 'run-a' });
    // Nor does it end the lease that a later call has given.
    await store.readNews(lead, { limit: 1, ...LEASE, ...late });
    expect(await store.findRun({})).toMatchObject({ run: 'run-a' });
  });

  test('a lease is no longer than it says, whatever the leader has seen of another clock', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    const { atMs } = await store.readServer();
    const ahead = { seenAtMs: atMs + 1_000_000_000 };
    await openStep(store, lead, { ...LEASE, ...ahead });
    await store.readNews(lead, { limit: 1, ...LEASE, ...ahead });
    expect(await store.findRun({})).toMatchObject({ run: 'run-a' });
    await cluster.passTime(LEASE.leaseMs);
    expect(await store.findRun({})).toBeUndefined();
  });

  test('a clock that is set back lengthens no lease; a leader that is there renews it', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    await openStep(store, lead, LEASE);
    const worker = await aWorker(cluster, 'w');
    await worker.claim(1);
    await cluster.passTime(-3_600_000);
    expect(await store.findRun({})).toBeUndefined();
    expect(await worker.begin()).toMatchObject({ refused: [0] });
    await readNews(store, lead, 1, LEASE.leaseMs);
    expect(await store.findRun({})).toMatchObject({ run: 'run-a' });
    expect(await worker.begin()).toMatchObject({ refused: [] });
    await cluster.passTime(LEASE.leaseMs);
    expect(await store.findRun({})).toBeUndefined();
  });

  test('a leader before the one that leads renews nothing', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    const next = { ...lead, epoch: 2 };
    await store.lead(next, NEW_LEAD);
    await openStep(store, next, LEASE);
    await cluster.passTime(LEASE.leaseMs);
    await expect(readNews(store, lead)).rejects.toThrow();
    expect(await store.findRun({})).toBeUndefined();
  });

  test.each([
    ['its attempt ends', (worker: Worker) => worker.end(SETTLED)],
    ['its worker is lost', (worker: Worker) => worker.store.leave('w')],
  ])('a run is dropped when nothing of it is sent any more: %s', async (_, end) => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2)] });
    const worker = await aWorker(cluster, 'w');
    await worker.claim(2);
    await worker.begin({ request: 1 });
    let isDropped = false;
    const dropping = store.drop(lead).then(() => {
      isDropped = true;
    });
    while ((await store.findRun({})) !== undefined);
    expect(await worker.begin({ request: 2 })).toMatchObject({ refused: [0] });
    expect(await worker.begin({ request: 1 })).toMatchObject({ refused: [] });
    // More calls than a drop of nothing under way takes.
    for (let repeat = 0; repeat < 20; repeat += 1) {
      expect([isDropped, await store.hasRuns({})]).toEqual([false, true]);
    }
    await end(worker);
    await dropping;
    expect(await store.hasRuns({})).toBe(false);
  });
}

type Worker = Awaited<ReturnType<typeof aWorker>>;
