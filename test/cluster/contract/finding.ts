import { expect, test } from 'vitest';
import { aRun, aWorker, type OpenCluster } from './cluster-under-test.js';

/** Which run a worker finds. */
export function testFinding(open: OpenCluster): void {
  test('a worker finds the run whose step is open, or the one that it asks for', async () => {
    const cluster = await open();
    const store = await cluster.connect();
    expect([await store.findRun({}), await store.hasRuns({})]).toEqual([undefined, false]);
    await aRun(cluster, { run: 'run-a' });
    await aRun(cluster, { run: 'run-b' });
    expect(await store.findRun({ run: 'run-b' })).toEqual({
      run: 'run-b',
      born: expect.any(String),
      epoch: 1,
      digest: 'of its file',
      step: 1,
      provisionedIds: ['id "1"', ''],
    });
    await store.withdraw({ run: 'run-b', epoch: 1 });
    expect(await store.findRun({ run: 'run-b' })).toBeUndefined();
    expect(await store.findRun({})).toMatchObject({ run: 'run-a' });
    expect(await store.hasRuns({ run: 'run-b' })).toBe(true);
    expect(await store.findRun({ job: 'job of run-a' })).toMatchObject({ run: 'run-a' });
    expect(await store.findRun({ job: 'job of run-b' })).toBeUndefined();
    expect([await store.hasRuns({ job: 'job of run-b' }), await store.hasRuns({ job: 'other' })]).toEqual([
      true,
      false,
    ]);
  });

  test('a worker with nothing to do finds the run that has something for it', async () => {
    const cluster = await open();
    const { store } = await aRun(cluster, { run: 'run-a' });
    const { claim } = await aWorker(cluster, 'w', 'run-a');
    expect(await claim(1)).toHaveLength(1);
    expect(await store.findRun({})).toMatchObject({ run: 'run-a' });
    await aRun(cluster, { run: 'run-b' });
    expect(await store.findRun({})).toMatchObject({ run: 'run-b' });
    expect(await store.findRun({ run: 'run-a' })).toMatchObject({ run: 'run-a' });
  });
}
