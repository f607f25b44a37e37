import { expect, test } from 'vitest';
import { askingFor } from '../a-hand.js';
import {
  AGAIN,
  aBegin,
  anEnd,
  aPart,
  aRun,
  aWorker,
  type ClusterUnderTest,
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

/** What `WorkerStore` promises while no worker is lost. */
export function testWorking(open: OpenCluster): void {
  test('parts are claimed in the order of the plan, each by one worker', async () => {
    const cluster = await open();
    await aRun(cluster, { parts: [aPart(3), aPart(1), aPart(2), aPart(2, { part: '0', rows: [4, 1] })] });
    const one = await aWorker(cluster, 'one');
    const other = await aWorker(cluster, 'other');
    const isNew = { isInFlight: false, attempt: 0, nonce: undefined };
    const expected = { ...PART, rows: [2, 2], head: aPart(1).head, body: aPart(1).body, ...isNew };
    expect(await one.claim(1)).toEqual([expected]);
    expect((await other.claim(2)).map(({ request, part }) => [request, part])).toEqual([
      [2, ''],
      [2, '0'],
    ]);
    expect((await other.store.claim(other.key, { count: 5, holding: [] })).parts).toHaveLength(3);
    expect(await one.store.claim(one.key, { count: 5, holding: [PART] })).toEqual({ parts: [], isOpen: true });
  });

  test('workers that claim at once get different parts, and all of them', async () => {
    const cluster = await open();
    await aRun(cluster, { parts: Array.from({ length: 60 }, (_, index) => aPart(index + 1)) });
    const workers = await Promise.all(Array.from({ length: 6 }, (_, index) => aWorker(cluster, `w${index}`)));
    const claimed = await Promise.all(
      workers.map(async ({ store, key }) => {
        const mine: { step: number; request: number; part: string }[] = [];
        for (;;) {
          const { parts } = await store.claim(key, { count: 4, holding: mine });
          if (parts.length === 0) return mine;
          mine.push(...parts.map(({ request }) => ({ ...PART, request })));
        }
      }),
    );
    const requests = claimed.flat().map(({ request }) => request);
    expect(requests.sort((one, other) => one - other)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  });

  test('a claim whose reply was lost is answered with the same parts', async () => {
    const cluster = await open();
    await aRun(cluster, { parts: [aPart(1), aPart(2), aPart(3)] });
    const worker = await aWorker(cluster, 'w');
    const first = await worker.claim(2);
    expect(await worker.claim(2)).toEqual(first);
    const { parts } = await worker.store.claim(worker.key, { count: 2, holding: [{ ...PART, request: 1 }] });
    expect(parts.map(({ request }) => request)).toEqual([2, 3]);
  });

  test('nothing is claimed of another step, of a run that is not there, or without a lease', async () => {
    const cluster = await open();
    await aRun(cluster);
    const { store, key } = await aWorker(cluster, 'w');
    const nothing = { parts: [], isOpen: false };
    const ask = { count: 1, holding: [] };
    expect(await store.claim({ ...key, step: 2 }, ask)).toEqual(nothing);
    expect(await store.claim({ ...key, run: 'none' }, ask)).toEqual(nothing);
    expect(await store.claim({ ...key, worker: 'stranger' }, ask)).toEqual(nothing);
    await cluster.passTime(LEASE_MS + 1);
    expect(await store.claim(key, ask)).toEqual(nothing);
  });

  test('a lease is renewed by each beat, and once it has ended it stays so', async () => {
    const cluster = await open();
    const { store } = await aWorker(cluster, 'w');
    const beat = () => store.beat('w', { name: 'host', leaseMs: LEASE_MS, life: undefined });
    const life = await readLife(store);
    for (let repeat = 0; repeat < 2; repeat += 1) {
      await cluster.passTime(LEASE_MS - 100_000);
      expect(await beat()).toEqual({ isAlive: true, life });
    }
    await cluster.passTime(LEASE_MS);
    for (let repeat = 0; repeat < 2; repeat += 1) {
      expect(await beat()).toEqual({ isAlive: false, life });
      await store.recover();
    }
  });

  test('a worker that the server has lost is waited for, and begins nothing before it has checked in', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    const before = await readLife(store);
    await cluster.restart();
    for (const life of [before, undefined]) {
      const worker = `knows ${life}`;
      await store.beat(worker, { name: 'host', leaseMs: LEASE_MS, life });
      const key = { worker, run: 'run-a', step: 1 };
      expect(await store.confirmLife(lead)).toBe('waiting');
      expect(await store.claim(key, { count: 1, holding: [] })).toEqual({ parts: [], isOpen: false });
      await store.checkIn(await readLife(store), { calls: [{ worker, call: 0 }], births: [] });
    }
    expect(await store.confirmLife(lead)).toBe('same');
  });

  test.each<[string, (cluster: ClusterUnderTest) => Promise<unknown>, Partial<ReturnType<typeof aBegin>>]>([
    ['its lease has ended', (cluster) => cluster.passTime(LEASE_MS), {}],
    ['its step is closed', async (cluster) => (await cluster.connect()).withdraw({ run: 'run-a', epoch: 1 }), {}],
    ['the server has a new life', (cluster) => cluster.restart(), {}],
    ['another worker has it', async () => {}, { request: 2 }],
    ['no worker has it', async () => {}, { request: 3 }],
    ['it is not there', async () => {}, { request: 4 }],
    ['it has another attempt next', async () => {}, { attempt: 2 }],
  ])('a begin is refused, and leaves nothing, where %s', async (_, happen, entry) => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2), aPart(3)], onLost: 'again' });
    const worker = await aWorker(cluster, 'w');
    await worker.claim(1);
    await (await aWorker(cluster, 'other')).claim(1);
    await happen(cluster);
    for (let repeat = 0; repeat < 2; repeat += 1) {
      expect(await worker.begin(entry)).toMatchObject({ refused: [0] });
    }
    expect(await readNews(store, lead)).toMatchObject({ underWay: 0, ended: [] });
    for (const one of ['w', 'other']) await store.leave(one);
    await store.recover();
    await store.lead({ ...lead, epoch: 2 }, NEW_LEAD);
    await store.confirmLife({ ...lead, epoch: 2 });
    await openStep(store, { ...lead, epoch: 2 }, { onLost: 'again' });
    const next = await aWorker(cluster, 'next');
    expect((await next.claim(3)).map(({ attempt }) => attempt)).toEqual([0, 0, 0]);
    for (const request of [1, 2, 3]) expect(await next.begin({ request })).toMatchObject({ refused: [] });
  });

  test('a begin whose reply was lost is not refused to the process that wrote it, and is to any other', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    const worker = await aWorker(cluster, 'w');
    await worker.claim(1);
    await worker.begin({}, 'mine');
    expect(await worker.begin({}, 'mine')).toMatchObject({ refused: [] });
    expect(await worker.begin({}, 'of another')).toMatchObject({ refused: [0] });
    expect(await (await aWorker(cluster, 'other')).begin({}, 'mine')).toMatchObject({ refused: [0] });
    expect(await readNews(store, lead)).toMatchObject({ underWay: 1 });
    await worker.end(SETTLED, {}, 'mine');
    expect(await worker.begin({}, 'mine')).toMatchObject({ refused: [0] });
  });

  test('two begins of one attempt at once: one is refused', async () => {
    const cluster = await open();
    await aRun(cluster);
    const worker = await aWorker(cluster, 'w');
    await worker.claim(1);
    const again = await cluster.connect();
    const replies = await Promise.all([worker.begin({}, 'one'), again.append(worker.key, [aBegin({}, 'other')], 1)]);
    expect(replies.flatMap(({ refused }) => refused)).toEqual([0]);
  });

  test('an end has an effect once, and only with the nonce of its begin', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    const worker = await aWorker(cluster, 'w');
    await worker.claim(1);
    await worker.end(SETTLED);
    await worker.begin({}, 'mine');
    await worker.end(SETTLED, {}, 'of another');
    expect(await readNews(store, lead)).toMatchObject({ underWay: 1, ended: [] });
    for (let repeat = 0; repeat < 2; repeat += 1) await worker.end(SETTLED, {}, 'mine');
    await worker.end(AGAIN, {}, 'mine');
    const { ended, ...counts } = await readNews(store, lead);
    expect(ended).toMatchObject([{ result: SETTLED }]);
    expect(counts).toMatchObject({ open: 0, claimed: 0, underWay: 0 });
  });

  test('what is sent again stays with its worker, and so do the halves of what was split', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    const worker = await aWorker(cluster, 'w');
    await worker.claim(1);
    await worker.begin();
    await worker.end(AGAIN);
    expect(await readNews(store, lead)).toMatchObject({ claimed: 1 });
    await worker.begin({ attempt: 2 });
    for (let repeat = 0; repeat < 2; repeat += 1) await worker.end(SPLIT, { attempt: 2 });
    expect(await readNews(store, lead)).toMatchObject({ open: 0, claimed: 2, underWay: 0 });
    expect(await worker.claim(2)).toMatchObject([
      { part: '0', rows: [2, 1], attempt: 0, body: aPart(1).body },
      { part: '1', rows: [3, 1], attempt: 0 },
    ]);
    await worker.store.leave('w');
    expect(await (await aWorker(cluster, 'next')).claim(5)).toMatchObject([{ part: '0' }, { part: '1' }]);
  });

  test('entries of a group take effect in their order, each by itself', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2)] });
    const worker = await aWorker(cluster, 'w');
    await worker.claim(2);
    const begins = [aBegin({ request: 9 }), aBegin({ request: 1 }), aBegin({ request: 2, attempt: 2 })];
    expect(await worker.append(...begins)).toMatchObject({ refused: [0, 2] });
    const ends = [
      anEnd(SPLIT, { request: 1 }),
      aBegin({ request: 1, part: '0' }),
      aBegin({ request: 1, part: '00' }),
      aBegin({ request: 2 }),
    ];
    expect(await worker.append(...ends)).toMatchObject({ refused: [2] });
    const { ended, ...counts } = await readNews(store, lead);
    expect(ended.map(({ part }) => part)).toEqual(['']);
    expect(counts).toMatchObject({ open: 0, claimed: 1, underWay: 2 });
    expect(await worker.append()).toMatchObject({ refused: [] });
  });

  test('who leaves gives back what it has not begun, and its lease ends', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2)] });
    const worker = await aWorker(cluster, 'w');
    await worker.claim(2);
    await worker.begin();
    for (let repeat = 0; repeat < 2; repeat += 1) await worker.store.leave('w');
    expect(await readNews(store, lead)).toMatchObject({ open: 1, claimed: 0, underWay: 1, workers: 0 });
    expect(await store.beat('w', { name: 'host', leaseMs: LEASE_MS, life: undefined })).toMatchObject({
      isAlive: false,
    });
    expect(await store.recover()).toBe(1);
  });

  test('the first reason to stop counts; then nothing is claimed or begun until another leads', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2), aPart(3)] });
    const worker = await aWorker(cluster, 'w');
    await worker.claim(2);
    await worker.begin();
    expect((await readNews(store, lead, 1)).stop).toBeUndefined();
    const first = { reason: 'unauthorized', detail: 'the service answered 401' };
    await worker.store.askToStop('run-a', { ...first, epoch: 1, detail: 'the service answered\u0000 401' });
    await store.askToStop('run-a', { epoch: 1, reason: 'guard', detail: 'later' });
    expect((await readNews(store, lead, 1)).stop).toEqual(first);
    expect(await store.findRun({})).toBeUndefined();
    expect(await worker.store.claim(worker.key, { count: 1, holding: [] })).toEqual({ parts: [], isOpen: false });
    expect(await worker.begin({ request: 2 })).toMatchObject({ refused: [0] });
    await worker.end(SETTLED);
    expect((await readNews(store, lead, 1)).ended).toHaveLength(1);
    const next = { ...lead, epoch: 2 };
    await store.lead(next, NEW_LEAD);
    // Of a worker that was away for so long.
    await worker.store.askToStop('run-a', { ...first, epoch: 1 });
    expect((await readNews(store, next, 1)).stop).toBeUndefined();
  });

  test('workers of one lane never get the same turn, and all learn of a slowdown and of a pause', async () => {
    const cluster = await open();
    const stores = await Promise.all(Array.from({ length: 4 }, () => cluster.connect()));
    const ask = askingFor([40, 40]);
    const booked = await Promise.all(stores.map((store) => store.book('lane', ask)));
    const turns = booked
      .flatMap(({ nowMs, inMs }) => inMs.map((turn) => nowMs + turn))
      .sort((one, other) => one - other);
    expect(turns).toHaveLength(8);
    for (const [index, turn] of turns.slice(1).entries()) expect(turn - turns[index]!).toBeGreaterThan(39.999);
    expect(await stores[0]!.book('lane', { ...ask, costsMs: [], slowed: true, pauseMs: 600_000 })).toMatchObject({
      inMs: [],
      share: 0.5,
    });
    const after = await stores[1]!.book('lane', { ...ask, isUrgent: false });
    expect(after).toMatchObject({ inMs: [], share: 0.5 });
    expect(after.againInMs).toBeGreaterThan(500_000);
    const other = await stores[1]!.book('another lane', ask);
    expect(other.share).toBe(1);
    expect(Math.max(...other.inMs)).toBeLessThan(5_000);
  });
}
