import { describe } from 'vitest';
import { losingReplies, type OpenCluster } from './contract/cluster-under-test.js';
import { testFinding } from './contract/finding.js';
import { testLeading } from './contract/leading.js';
import { testLeaderLease } from './contract/leases.js';
import { testLosing } from './contract/losing.js';
import { testNewLife } from './contract/new-life.js';
import { testWorking } from './contract/working.js';
import { MemoryCluster } from './memory-store.js';

const openInMemory: OpenCluster = async () => {
  let nowMs = 1_800_000_000_000;
  const clock = {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: () => new Promise<void>((resolve) => setImmediate(resolve)),
  };
  const cluster = new MemoryCluster(clock);
  return {
    connect: async () => cluster.connect(),
    passTime: async (ms) => {
      nowMs += ms;
    },
    restart: async ({ awayMs = 0, ...how } = {}) => {
      nowMs += awayMs;
      cluster.restart(how);
    },
  };
};

describe.each([
  ['', openInMemory],
  [' whose replies are lost', losingReplies(openInMemory)],
])('a store%s', (_, open) => {
  testLeading(open);
  testWorking(open);
  testLosing(open);
  testNewLife(open);
  testFinding(open);
  testLeaderLease(open);
});
