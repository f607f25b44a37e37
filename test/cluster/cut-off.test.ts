import { expect, test } from 'vitest';
import { createContext } from '../../src/command/context.js';
import { nodeEnv } from '../../src/command/env.js';
import { openCluster } from '../../src/command/open-cluster.js';

import { createRandom } from '../../src/sandbox/random.js';
import { aTerminal } from '../command/a-terminal.js';
import { Timeline } from '../world/timeline.js';
import { CLUSTER } from './a-cluster.js';
import { clockOf } from './lanes-on-a-timeline.js';
import { type BreakCall, MemoryCluster } from './memory-store.js';

/** The seconds in which a process takes back what others lost, of 60; `isAway`: at a time, the database. */
async function listRecoveries(isAway: (atMs: number) => boolean): Promise<readonly number[]> {
  const timeline = new Timeline(createRandom(1, 1));
  const clock = clockOf(timeline);
  const recovered: number[] = [];
  const breakCall: BreakCall = (method) => {
    if (isAway(timeline.nowMs)) return 'before';
    if (method === 'recover') recovered.push(Math.floor(timeline.nowMs / 1000));
    return undefined;
  };
  const { terminal } = aTerminal({ env: { VOLLEY_DATABASE_URL: 'postgres://nowhere/volley' } });
  const runtime = { ...nodeEnv, clock, loadStore: async () => new MemoryCluster(clock).connect(breakCall) };
  const settings = { ...CLUSTER, share: 'lane', leaseSeconds: 30, sendHere: true } as const;
  const { close } = await openCluster(createContext({ ...terminal, runtime }), settings, 900);
  await timeline.runUntil(() => timeline.nowMs > 60_000);
  await close();
  return recovered;
}

test('a process that was cut off from the database takes back nothing for 15 s: others come back with it, and say what became of theirs', async () => {
  const recovered = await listRecoveries((atMs) => atMs > 9_500 && atMs < 18_000);

  expect(recovered).toContain(8);
  expect(recovered.find((second) => second >= 10)).toBeGreaterThanOrEqual(30);
});

test('a process that loses a call every few seconds takes back what a lost worker had: a run would not end without it', async () => {
  expect((await listRecoveries((atMs) => atMs % 3_000 < 1_100)).length).toBeGreaterThan(15);
});
