import { expect, test } from 'vitest';
import { loadJob } from '../../src/job/load.js';
import { systemClock } from '../../src/ports/clock.js';
import { aJob, numbersOf, people } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { runInProcess } from '../e2e/run-in-process.js';
import { MemoryCluster } from './memory-store.js';

test('a run that is led sends each row once, and leaves nothing in the database', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(2500));
  workspace.writeJob({ ...aJob(workspace), cluster: { database: { env: 'VOLLEY_DATABASE_URL' } } });
  const cluster = new MemoryCluster(systemClock);
  const job = await loadJob(workspace.path('job.yaml'));
  const env = { VOLLEY_API_KEY: workspace.sandbox.credentials.apiKey, VOLLEY_DATABASE_URL: 'postgres://nowhere/volley' };

  const exitCode = await runInProcess(job, { env, runtime: { loadStore: async () => cluster.connect() } });

  expect(exitCode).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(2500));
  expect(cluster.count()).toMatchObject({ parts: 0, attempts: 0 });
});
