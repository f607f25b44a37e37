import type { PlantedBug } from './planted-bug.js';

export const CLUSTER_BUGS: readonly PlantedBug[] = [
  {
    name: 'a request leaves although the database refused to begin it',
    file: 'src/cluster/held-parts.ts',
    find: 'if (pending.isRefused) throw',
    replace: 'if (attempt < 0) throw',
    tests: ['test/simulation/cluster'],
  },
  {
    name: 'a worker sends beyond its lease',
    file: 'src/cluster/lease.ts',
    find: 'if (this.#isLost || ageMs > leaseMs - SAFETY_MS) {',
    replace: 'if (this.#isLost || ageMs < leaseMs - leaseMs - SAFETY_MS) {',
    tests: ['test/cluster/lease.test.ts'],
  },
  {
    name: 'a worker does not say in a new life of the database what it sent',
    file: 'src/cluster/lease.ts',
    find: 'if (sent.life !== life) {',
    replace: 'if (sent.life === null) {',
    tests: ['test/cluster/lease.test.ts'],
  },
];
