import { expect, test } from 'vitest';
import { askingFor } from './a-hand.js';
import { aPart, aRun, aWorker, openStep, PART, SETTLED } from './a-run.js';
import { aDatabase } from './postgres-server.js';

test('workers that claim at once get different parts, and all of them', async () => {
  const cluster = await aDatabase();
  const all = Array.from({ length: 60 }, (_, index) => index + 1);
  await aRun(cluster, { parts: all.map((request) => aPart(request)) });
  const workers = await Promise.all(Array.from({ length: 6 }, (_, index) => aWorker(cluster, `w${index}`)));
  const claimed = await Promise.all(
    workers.map(async ({ store, key }) => {
      const mine: (typeof PART)[] = [];
      for (;;) {
        const { parts } = await store.claim(key, { count: 4, holding: mine });
        if (parts.length === 0) return mine;
        mine.push(...parts.map(({ request }) => ({ ...PART, request }) as typeof PART));
      }
    }),
  );

  const requests = claimed.flat().map(({ request }) => request);
  expect(requests.toSorted((one, other) => one - other)).toEqual(all);
});

test('two begins of one attempt at once: one is refused', async () => {
  const cluster = await aDatabase();
  await aRun(cluster);
  const worker = await aWorker(cluster, 'w');
  await worker.claim(1);

  const refused = await Promise.all(['one', 'other'].map((nonce) => worker.begin({}, nonce)));

  expect(refused.map((one) => one.refused.length).toSorted()).toEqual([0, 1]);
});

test('a run is dropped when nothing of it is sent any more, and nothing more begins, though its leader wakes', async () => {
  const { connect } = await aDatabase();
  const { store, lead } = await aRun({ connect }, { parts: [aPart(1), aPart(2)] });
  const worker = await aWorker({ connect }, 'w');
  await worker.claim(2);
  await worker.begin({ request: 1 });
  let isDropped = false;
  const dropping = store.drop(lead).then(() => {
    isDropped = true;
  });
  while ((await store.findRun({}))?.isOpen === true);
  // Its leader was stopped for long, and wakes.
  await openStep(store, lead);
  expect(await worker.begin({ request: 2 })).toMatchObject({ refused: [0] });
  // More calls than a drop of nothing under way takes.
  for (let repeat = 0; repeat < 20; repeat += 1)
    expect([isDropped, await store.findRun({})]).toMatchObject([false, {}]);
  await worker.end(SETTLED, { request: 1 });
  await dropping;

  expect(await store.findRun({})).toBeUndefined();
});

test('processes of one lane never get the same turn, and all learn of a slowdown and of a pause', async () => {
  const { connect } = await aDatabase();
  const stores = await Promise.all(Array.from({ length: 4 }, connect));
  const ask = askingFor([40, 40]);
  const booked = await Promise.all(stores.map((store) => store.book('lane', ask)));
  const turns = booked
    .flatMap(({ nowMs, inMs }) => inMs.map((turn) => nowMs + turn))
    .toSorted((one, other) => one - other);
  for (const [index, turn] of turns.slice(1).entries()) expect(turn - turns[index]!).toBeGreaterThan(39.999);
  await stores[0]!.book('lane', { ...ask, costsMs: [], slowed: true, pauseMs: 600_000 });

  expect(turns).toHaveLength(8);
  const after = await stores[1]!.book('lane', { ...ask, urgent: 0 });
  expect(after).toMatchObject({ inMs: [], share: 0.5 });
  expect(after.againInMs).toBeGreaterThan(500_000);
  expect(Math.max(...(await stores[1]!.book('another lane', ask)).inMs)).toBeLessThan(5_000);
});
