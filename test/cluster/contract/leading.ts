import { expect, test } from 'vitest';
import { LeadLost, type Store } from '../../../src/cluster/store.js';
import {
  AGAIN,
  aPart,
  aRun,
  aWorker,
  NEW_LEAD,
  noteTaken,
  type OpenCluster,
  openStep,
  PART,
  readNews,
  SETTLED,
  SPLIT,
} from './cluster-under-test.js';

/** What `LeaderStore` promises. */
export function testLeading(open: OpenCluster): void {
  test('a run is new until a step of it was opened, also to a repeated call and to the next leader', async () => {
    const cluster = await open();
    const store = await cluster.connect();
    const { born } = await store.lead({ run: 'run-a', epoch: 1 }, NEW_LEAD);
    const led = { born, isNew: true, isNewLife: false, parts: [] };
    expect(await store.lead({ run: 'run-a', epoch: 1 }, NEW_LEAD)).toMatchObject(led);
    expect(await store.lead({ run: 'run-a', epoch: 2 }, NEW_LEAD)).toMatchObject(led);
    await openStep(store, { run: 'run-a', epoch: 2 }, { onLost: 'again' });
    expect(await store.lead({ run: 'run-a', epoch: 3 }, NEW_LEAD)).toMatchObject({ born, isNew: false });
    await store.drop({ run: 'run-a', epoch: 3 });
    expect((await store.lead({ run: 'run-a', epoch: 4 }, NEW_LEAD)).born).not.toBe(born);
  });

  test('who takes over gets the parts with their states; nothing is claimed until it opens a step', async () => {
    const cluster = await open();
    const { store } = await aRun(cluster, { parts: [aPart(1), aPart(2), aPart(3), aPart(4)] });
    const worker = await aWorker(cluster, 'w');
    await worker.claim(3);
    await worker.begin({ request: 1 });
    await worker.begin({ request: 2 });
    await worker.end(SETTLED, { request: 2 });
    const lead = { run: 'run-a', epoch: 2 };
    const { parts } = await store.lead(lead, { ...NEW_LEAD, digest: 'of a new one' });
    expect(parts.map(({ request, state, isTaken }) => [request, state, isTaken])).toEqual([
      [1, 'under-way', false],
      [2, 'done', false],
      [3, 'claimed', false],
      [4, 'open', false],
    ]);
    await noteTaken(store, lead, (await readNews(store, lead, 1)).ended);
    expect((await store.lead(lead, { ...NEW_LEAD, digest: 'of a new one' })).parts[1]).toMatchObject({
      request: 2,
      isTaken: true,
    });
    expect(await store.findRun({})).toBeUndefined();
    expect(await worker.store.claim(worker.key, { count: 1, holding: [] })).toEqual({ parts: [], isOpen: false });
    await openStep(store, lead, { onLost: 'again' });
    expect(await store.findRun({})).toMatchObject({ digest: 'of a new one', epoch: 2 });
    // Who knows the job of the leader before gets nothing more under it: its limits may be lower now.
    const claim = (epoch: number) => worker.store.claim(worker.key, { count: 1, holding: [], epoch });
    expect(await claim(1)).toEqual({ parts: [], isOpen: false });
    expect(await claim(2)).toMatchObject({ parts: [{ request: 3 }], isOpen: true });
  });

  test('a leader of a lower epoch can do nothing more, nor can one of a run that is not there', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    await store.lead({ run: 'run-a', epoch: 2 }, NEW_LEAD);
    await expectLeadLost(store, lead);
    await expect(store.lead(lead, NEW_LEAD)).rejects.toThrow(LeadLost);
    // Of another directory, where as many processes have had the lock.
    const other = { ...NEW_LEAD, leader: 'process 2' };
    await expect(store.lead({ run: 'run-a', epoch: 2 }, other)).rejects.toThrow(LeadLost);
    await expect(store.drop(lead)).rejects.toThrow(LeadLost);
    await expectLeadLost(store, { run: 'none', epoch: 1 });
  });

  test('a part that is there stays as it is when it is handed over again', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2)] });
    const worker = await aWorker(cluster, 'w');
    await worker.claim(2);
    await worker.begin({ request: 1 });
    await worker.begin({ request: 2 });
    await worker.end(SETTLED, { request: 2 });
    await noteTaken(store, lead, (await readNews(store, lead)).ended);
    await store.handOver(lead, [aPart(1), aPart(2), aPart(3)]);
    expect(await readNews(store, lead)).toMatchObject({ open: 1, claimed: 0, underWay: 1, ended: [] });
  });

  test('results come back as they were written, in order, at most as many as asked for, until they are taken', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    const worker = await aWorker(cluster, 'w');
    await worker.claim(1);
    await worker.begin();
    await worker.end(AGAIN);
    expect((await readNews(store, lead)).ended).toMatchObject([{ attempt: 1, rows: [2, 2], result: AGAIN }]);
    await worker.begin({ attempt: 2 });
    await worker.end(SPLIT, { attempt: 2 });
    await worker.begin({ part: '1' });
    await worker.end({ kind: 'given-up', verdict: { status: 'not-sent', code: 'x', reason: 'late' } } as never, {
      part: '1',
    });
    await worker.begin({ part: '0' });
    await worker.end(SETTLED, { part: '0' });
    const { ended, workers } = await readNews(store, lead);
    expect(workers).toBe(1);
    expect(ended.map(({ part, attempt, rows, result }) => [part, attempt, rows, result.kind])).toEqual([
      ['', 2, [2, 2], 'split'],
      ['1', 1, [3, 1], 'given-up'],
      ['0', 1, [2, 1], 'settled'],
    ]);
    expect(ended[2]).toMatchObject({ result: SETTLED });
    expect((await readNews(store, lead, 2)).ended).toEqual(ended.slice(0, 2));
    expect((await readNews(store, lead, 2)).ended).toEqual(ended.slice(0, 2));
    for (let repeat = 0; repeat < 2; repeat += 1) await noteTaken(store, lead, ended.slice(0, 2));
    expect((await readNews(store, lead)).ended).toEqual(ended.slice(2));
  });

  test('of a closed step nothing is claimed or begun, and what is under way ends', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2), aPart(3)] });
    const worker = await aWorker(cluster, 'w');
    await worker.claim(2);
    await worker.begin({ request: 1 });
    for (let repeat = 0; repeat < 2; repeat += 1) expect(await store.withdraw(lead)).toHaveLength(2);
    expect(await worker.store.claim(worker.key, { count: 1, holding: [] })).toEqual({ parts: [], isOpen: false });
    expect(await worker.begin({ request: 2 })).toMatchObject({ refused: [0] });
    expect(await worker.begin({ request: 1 })).toMatchObject({ refused: [] });
    await worker.end(SETTLED, { request: 1 });
    expect(await readNews(store, lead)).toMatchObject({ open: 0, claimed: 0, underWay: 0, ended: [{ request: 1 }] });
    expect(await store.findRun({})).toBeUndefined();
  });

  test('a closed step gives back what is open or claimed, also by a worker that has a lease', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2)] });
    const worker = await aWorker(cluster, 'w');
    await worker.claim(1);
    const withdrawn = [1, 2].map((request) => ({ ...PART, request, isInFlight: false }));
    for (let repeat = 0; repeat < 2; repeat += 1) {
      expect(inOrder(await store.withdraw(lead))).toEqual(withdrawn);
    }
    expect(await worker.begin({ request: 1 })).toMatchObject({ refused: [0] });
    expect(await readNews(store, lead)).toMatchObject({ open: 0, claimed: 0 });
    await openStep(store, lead, { onLost: 'again' });
    expect(await store.withdraw(lead)).toEqual([]);
  });

  test('a part that was withdrawn counts its attempts on when it is handed over again', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    const worker = await aWorker(cluster, 'w');
    await worker.claim(1);
    await worker.begin();
    await worker.end(AGAIN);
    await worker.store.leave('w');
    expect(await store.withdraw(lead)).toHaveLength(1);
    await openStep(store, lead, { onLost: 'again' });
    await store.handOver(lead, [aPart(1)]);
    const next = await aWorker(cluster, 'next');
    expect(await next.claim(1)).toMatchObject([{ request: 1, attempt: 1, body: aPart(1).body }]);
    expect(await next.begin()).toMatchObject({ refused: [0] });
    expect(await next.begin({ attempt: 2 })).toMatchObject({ refused: [] });
  });

  test('a part that was sent before is claimed with an attempt to settle, and withdrawn as such', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [], onLost: 'query' });
    for (let repeat = 0; repeat < 2; repeat += 1) {
      await store.handOver(lead, [aPart(1, { isInFlight: true }), aPart(2, { isInFlight: true })]);
    }
    const worker = await aWorker(cluster, 'w');
    const [part] = await worker.claim(1);
    expect(part).toMatchObject({ isInFlight: true, attempt: 1, nonce: expect.any(String) });
    expect(await worker.begin({ attempt: 2 })).toMatchObject({ refused: [0] });
    await worker.end(AGAIN, {}, part!.nonce);
    expect(await worker.begin({ attempt: 2 })).toMatchObject({ refused: [] });
    expect(await store.withdraw(lead)).toEqual([{ ...PART, request: 2, isInFlight: true }]);
  });

  test('what was withdrawn is there for the next leader, as it was: the last one may have died before it wrote that down', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2)], onLost: 'query' });
    const worker = await aWorker(cluster, 'w');
    await worker.claim(1);
    await worker.begin();
    await worker.store.leave('w');
    await store.recover();
    expect(inOrder(await store.withdraw(lead))).toMatchObject([{ isInFlight: true }, { isInFlight: false }]);
    const next = { ...lead, epoch: 2 };
    expect(await store.lead(next, NEW_LEAD)).toMatchObject({
      isNew: false,
      parts: [
        { ...PART, state: 'open' },
        { request: 2, state: 'open' },
      ],
    });
    await openStep(store, next, { onLost: 'query' });
    const other = await aWorker(cluster, 'other');
    expect(await other.claim(2)).toMatchObject([
      { request: 1, isInFlight: true, attempt: 1, nonce: 'of w', body: aPart(1).body },
      { request: 2, isInFlight: false, attempt: 0, body: aPart(2).body },
    ]);
  });

  test('a dropped run leaves nothing, whatever comes late; other runs stay', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    await aRun(cluster, { run: 'run-b' });
    const worker = await aWorker(cluster, 'w');
    await worker.claim(1);
    await worker.begin();
    await worker.store.leave('w');
    for (let repeat = 0; repeat < 2; repeat += 1) await store.drop(lead);
    expect(await worker.end(SETTLED)).toMatchObject({ refused: [] });
    expect(await worker.begin()).toMatchObject({ refused: [0] });
    expect([await store.hasRuns({ run: 'run-a' }), await store.hasRuns({})]).toEqual([false, true]);
    expect(await store.findRun({})).toMatchObject({ run: 'run-b' });
    expect(await store.lead(lead, NEW_LEAD)).toMatchObject({ isNew: true, parts: [] });
  });
}

async function expectLeadLost(store: Store, lead: { run: string; epoch: number }): Promise<void> {
  const calls = [
    () => openStep(store, lead, { onLost: 'again' }),
    () => store.handOver(lead, [aPart(9)]),
    () => readNews(store, lead, 1),
    () => store.withdraw(lead),
    () => store.confirmLife(lead),
  ];
  for (const call of calls) await expect(call(), String(call)).rejects.toThrow(LeadLost);
}

function inOrder<T extends { request: number }>(parts: readonly T[]): T[] {
  return [...parts].sort((one, other) => one.request - other.request);
}
