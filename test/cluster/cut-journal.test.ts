import { expect, test } from 'vitest';
import { decodeLine } from '../../src/journal/entry-format.js';
import { RunState } from '../../src/journal/replay.js';
import { anSmsStep } from '../e2e/a-job.js';
import { aClusterInMemory, aJobOf, CLUSTER } from './a-cluster.js';
import { aHand, tick } from './a-hand.js';
import { AGAIN, SPLIT } from './a-run.js';

/** Else a run that is dropped from the database, or resumed without it, sends again what a worker has sent. */
test('a journal that is cut anywhere has in flight what a worker may have sent: after an attempt to be repeated, and after a split', async () => {
  const workspace = await aJobOf(2, { cluster: { ...CLUSTER, sendHere: false }, steps: [anSmsStep()] });
  const { cluster, lead } = aClusterInMemory(workspace);
  const store = cluster.connect();
  const leading = lead();
  const hand = await aHand(store);
  const untilTaken = async () => {
    while ((await store.readNews(hand.run, { limit: 1 })).ended.length > 0) await tick();
  };
  await hand.begin();
  await hand.end(AGAIN);
  await untilTaken();
  await hand.begin();
  await hand.end(SPLIT);
  await untilTaken();

  const text = workspace.read(`out/sale/${workspace.runs()[0]}/journal.ndjson`);
  const entries = text.split('\n').flatMap((line) => decodeLine(Buffer.from(line))?.entry ?? []);
  const state = new RunState();
  const seen = new Set<string>();
  for (const entry of entries) {
    state.apply(entry);
    const parts = [...state.step(1).open.values()];
    expect(parts.filter(({ isInFlight }) => !isInFlight)).toEqual([]);
    for (const { part } of parts) seen.add(part);
  }
  expect([...seen]).toEqual(['', '0', '1']);
  leading.stop();
  await hand.die();
  expect(await leading.ended).toBe(75);
});
