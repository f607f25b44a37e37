import { expect, test } from 'vitest';
import { askingFor } from '../a-hand.js';
import {
  aPart,
  aRun,
  aWorker,
  LEASE_MS,
  NEW_LEAD,
  type OpenCluster,
  openStep,
  readLife,
  readNews,
  SETTLED,
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
    await one.checkIn();
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
    expect([await store.withdraw(lead), await store.confirmLife(lead)]).toEqual([[], 'waiting']);
    await worker.checkIn();
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
    await silent.checkIn();
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

  test('a run stops where a call that was acknowledged to one of its workers is lost', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    const { born = '' } = (await store.findRun({})) ?? {};
    const worker = await aWorker(cluster, 'w');
    await worker.claim(1);
    await worker.begin();
    await cluster.restart({ losesCommits: true });
    // What it writes before it has checked in does not hide it.
    expect(await worker.append()).toMatchObject({ life: '' });
    expect(await store.confirmLife(lead)).toBe('waiting');
    await store.checkIn('of another life', { calls: [{ worker: 'w', call: 0 }], births: [] });
    expect(await store.confirmLife(lead)).toBe('waiting');
    await store.checkIn(await readLife(store), { calls: [{ worker: 'w', call: 1 }], births: [born] });
    for (let repeat = 0; repeat < 2; repeat += 1) expect(await store.confirmLife(lead)).toBe('lost');
    expect(await (await aWorker(cluster, 'next')).claim(1)).toEqual([]);
    // A person must look: the next leader learns it too.
    const next = { ...lead, epoch: 2 };
    await store.lead(next, NEW_LEAD);
    expect(await store.confirmLife(next)).toBe('lost');
  });

  test('a worker that has all its calls in the new life finds it so, and its next ones count there', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster, { parts: [aPart(1), aPart(2)] });
    const { born = '' } = (await store.findRun({})) ?? {};
    const worker = await aWorker(cluster, 'w');
    await worker.claim(2);
    await worker.begin();
    await cluster.restart();
    await worker.checkIn(born);
    expect(await store.confirmLife(lead)).toBe('same');
    expect(await worker.begin({ request: 2 })).toMatchObject({ life: await readLife(store) });
    await cluster.restart({ losesCommits: true });
    await worker.checkIn(born);
    expect(await store.confirmLife(lead)).toBe('lost');
  });

  test('calls under a lease that the server has lost are missing once; a run that was dropped meanwhile lacks none', async () => {
    const cluster = await open();
    const { store, lead } = await aRun(cluster);
    const { born: before = '' } = (await store.findRun({})) ?? {};
    const worker = await aWorker(cluster, 'w');
    await store.drop(lead);
    await aRun(cluster);
    const { born = '' } = (await store.findRun({})) ?? {};
    expect(born).not.toBe(before);
    const sent = { calls: ['w', 'of before'].map((of, at) => ({ worker: of, call: at })), births: [before] };
    await cluster.restart();
    await worker.store.checkIn(await readLife(store), sent);
    expect(await store.confirmLife(lead)).toBe('same');
    await cluster.restart();
    await worker.store.checkIn(await readLife(store), { ...sent, births: [before, born] });
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
