import { expect, test } from 'vitest';
import { askingFor } from '../a-hand.js';
import {
  aBegin,
  anEnd,
  aPart,
  aRun,
  aWorker,
  LEASE_MS,
  NEW_LEAD,
  type OpenCluster,
  openStep,
  PART,
  readLife,
  readNews,
  SETTLED,
  SPLIT,
} from './cluster-under-test.js';

/** What the store does when its server ends, and is there again in a new life. */
export function testNewLife(open: OpenCluster): void {
  test('in a new life nothing is claimed or begun until each worker with a lease has checked in', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2), aPart(3)] });
    const [one, other] = [await aWorker(cluster, 'one'), await aWorker(cluster, 'other')];
    await one.claim(2);
    await one.begin();
    const before = await readLife(store);
    expect(await store.confirmLife(lead)).toBe('same');
    await cluster.restart();
    const after = await readLife(store);
    expect([after === before, (await readNews(store, lead, 1)).life]).toEqual([false, after]);
    expect(await one.begin({ request: 2 })).toMatchObject({ refused: [0] });
    expect(await other.store.claim(other.key, { count: 1, holding: [] })).toEqual({ parts: [], isOpen: false });
    expect(await store.findRun({})).toBeUndefined();
    // What is under way ends in any life.
    await one.end(SETTLED);
    expect(await store.lead(lead, NEW_LEAD)).toMatchObject({ isNewLife: true });
    expect(await store.confirmLife(lead)).toBe('waiting');
    expect(await one.store.checkIn('one', [])).toBe(0);
    expect(await store.confirmLife(lead)).toBe('waiting');
    await other.store.leave('other');
    for (let repeat = 0; repeat < 2; repeat += 1) expect(await store.confirmLife(lead)).toBe('same');
    await openStep(store, lead, { onLost: 'in-doubt' });
    expect(await one.begin({ request: 2 })).toMatchObject({ refused: [] });
    expect(await store.lead(lead, NEW_LEAD)).toMatchObject({ isNewLife: false });
  });

  test('in a new life nothing is given back until it is confirmed: it may have been sent', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1)] });
    const worker = await aWorker(cluster, 'w');
    await worker.claim(1);
    await cluster.restart();
    await store.closeStep(lead);
    expect([await store.withdraw(lead), await store.confirmLife(lead)]).toEqual([[], 'waiting']);
    await worker.store.checkIn('w', []);
    expect(await store.withdraw(lead)).toEqual([]);
    expect(await store.confirmLife(lead)).toBe('same');
    expect(await store.withdraw(lead)).toMatchObject([{ request: 1, isInFlight: false }]);
  });

  test('a worker that has not checked in begins nothing, also where its run was confirmed', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2)] });
    const silent = await aWorker(cluster, 'silent');
    await silent.claim(1);
    await cluster.restart();
    await store.lead({ run: 'run-b', epoch: 1 }, NEW_LEAD);
    await openStep(store, { run: 'run-b', epoch: 1 }, { onLost: 'again' });
    await store.handOver({ run: 'run-b', epoch: 1 }, [aPart(1)]);
    const ofB = { worker: 'silent', run: 'run-b', step: 1 };
    expect(await store.claim(ofB, { count: 1, holding: [] })).toEqual({ parts: [], isOpen: false });
    await silent.store.checkIn('silent', []);
    expect((await store.claim(ofB, { count: 1, holding: [] })).parts).toHaveLength(1);
    expect(await store.confirmLife(lead)).toBe('same');
    expect(await silent.begin()).toMatchObject({ refused: [] });
  });

  test('a lease that ended while the server was away holds until its worker could renew it', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    const worker = await aWorker(cluster, 'w');
    await worker.claim(1);
    await cluster.restart({ awayMs: LEASE_MS / 2 + 100_000 });
    await cluster.restart({ awayMs: LEASE_MS / 2 });
    expect(await store.recover()).toBe(0);
    expect(await store.confirmLife(lead)).toBe('waiting');
    expect(await worker.store.beat('w', { name: 'host', leaseMs: LEASE_MS, life: undefined })).toMatchObject({
      isAlive: true,
    });
    await cluster.passTime(LEASE_MS);
    expect(await store.recover()).toBe(1);
    expect(await store.confirmLife(lead)).toBe('same');
  });

  test('an attempt that the server has lost is put back, and the run stops', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2), aPart(3)] });
    const worker = await aWorker(cluster, 'w');
    await worker.claim(2);
    for (const request of [1, 2]) await worker.begin({ request });
    await worker.end(SETTLED, { request: 2 });
    await cluster.restart({ lose: [1, 2].map((request) => ({ ...PART, request, attempt: 1 })) });
    expect(await readNews(store, lead)).toMatchObject({ ended: [], underWay: 0 });
    const remembered = [
      { run: 'run-a', begin: aBegin({ request: 1 }, 'of w'), end: undefined },
      { run: 'run-a', begin: aBegin({ request: 2 }, 'of w'), end: anEnd(SETTLED, { request: 2 }, 'of w') },
      { run: 'dropped', begin: aBegin({ request: 1 }, 'of w'), end: undefined },
    ];
    for (let repeat = 0; repeat < 2; repeat += 1) expect(await worker.store.checkIn('w', remembered)).toBe(2);
    for (let repeat = 0; repeat < 2; repeat += 1) expect(await store.confirmLife(lead)).toBe('lost');
    expect(await readNews(store, lead)).toMatchObject({
      underWay: 1,
      open: 1,
      ended: [{ request: 2, attempt: 1, result: SETTLED }],
    });
    expect(await (await aWorker(cluster, 'next')).claim(3)).toEqual([]);
    await worker.end(SETTLED, { request: 1 });
    expect((await readNews(store, lead)).ended).toHaveLength(2);
    // A person must look: the next leader learns it too.
    const next = { ...lead, epoch: 2 };
    await store.lead(next, NEW_LEAD);
    expect(await store.confirmLife(next)).toBe('lost');
  });

  test('an attempt that another worker has begun in the place of a lost one is lost', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    const worker = await aWorker(cluster, 'w');
    await worker.claim(1);
    await worker.begin({}, 'known');
    await cluster.restart();
    const remembered = [{ run: 'run-a', begin: aBegin({}, 'sent'), end: anEnd(SETTLED, {}, 'sent') }];
    expect(await worker.store.checkIn('w', remembered)).toBe(1);
    expect(await store.confirmLife(lead)).toBe('lost');
    expect(await readNews(store, lead, 1)).toMatchObject({ underWay: 1, ended: [] });
  });

  test('who remembers nothing but what the server has finds it so', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2)] });
    const worker = await aWorker(cluster, 'w');
    await worker.claim(2);
    for (const request of [1, 2]) await worker.begin({ request });
    await worker.end(SPLIT, { request: 2 });
    await cluster.restart();
    const remembered = [
      { run: 'run-a', begin: aBegin({ request: 1 }, 'of w'), end: undefined },
      { run: 'run-a', begin: aBegin({ request: 2 }, 'of w'), end: anEnd(SPLIT, { request: 2 }, 'of w') },
    ];
    expect(await worker.store.checkIn('w', remembered)).toBe(0);
    expect(await store.confirmLife(lead)).toBe('same');
  });

  test('attempts of a run that was dropped, and is led again, are not lost', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    const before = await store.findRun({});
    await store.drop(lead);
    await aRun(cluster);
    const worker = await aWorker(cluster, 'w');
    expect((await store.findRun({}))?.born).not.toBe(before?.born);
    await cluster.restart();
    const remembered = [{ run: 'run-a', born: before?.born, begin: aBegin({}, 'sent'), end: undefined }];
    expect(await worker.store.checkIn('w', remembered)).toBe(0);
    expect(await store.confirmLife(lead)).toBe('same');
  });

  test('in a new life a lane lets nothing pass for a period', async () => {
    const cluster = await open();
    const store = await cluster.connect();
    const ask = askingFor([10]);
    const first = await store.book('lane', ask);
    await cluster.restart();
    const next = await store.book('lane', ask);
    expect(first.inMs[0]).toBeGreaterThan(1000);
    expect(next.inMs[0]).toBeGreaterThan(1000);
  });
}
