import { afterEach, beforeAll, describe } from 'vitest';
import type { Store } from '../../src/cluster/store.js';
import { oneIn } from '../one-in.js';
import { losingReplies, type OpenCluster } from './contract/cluster-under-test.js';
import { testFinding } from './contract/finding.js';
import { testLeading } from './contract/leading.js';
import { testLeaderLease } from './contract/leases.js';
import { testLosing } from './contract/losing.js';
import { testNewLife } from './contract/new-life.js';
import { testWorking } from './contract/working.js';
import { connectTo, type Databases, openPostgres, openTestDatabase } from './postgres-server.js';

let server: Databases;
let url: string;
beforeAll(async () => {
  server = await openPostgres();
  url = server.url(await server.createVolleyDatabase());
});

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

/** The table of lives is emptied as a crash empties it; the clock of leases is moved instead of waited for. */
const openOnServer: OpenCluster = async () => {
  const database = openTestDatabase(url);
  await database.query('truncate volley.run, volley.request, volley.part, volley.worker, volley.lane');
  const connect = async (): Promise<Store> => {
    const store = await connectTo(url);
    opened.push(store);
    return store;
  };
  const passTime = async (ms: number) => {
    for (const table of ['worker', 'run']) {
      await database.query(`update volley.${table} set lease_until = lease_until - $1 * interval '1 ms'`, [ms]);
    }
  };
  opened.push(database);
  return {
    connect,
    passTime,
    restart: async ({ awayMs = 0, losesCommits = false } = {}) => {
      await passTime(awayMs);
      await database.query('update volley.worker set calls = calls - $1::integer', [Number(losesCommits)]);
      await database.query('truncate volley.life');
    },
  };
};

const GROUPS = [testLeading, testWorking, testLosing, testNewLife, testFinding, testLeaderLease];

describe('a store', () => {
  for (const group of GROUPS) group(openOnServer);
});

// A part of them with each commit: all are in memory-store.test.ts.
describe('a store whose replies are lost', () => {
  for (const group of oneIn(2, GROUPS)) group(losingReplies(openOnServer));
});
