import { expect, test } from 'vitest';
import { type WorkOptions, workForRuns } from '../../src/cluster/worker.js';
import { encodeWorkerJob } from '../../src/cluster/worker-job.js';
import { loadJob } from '../../src/job/load.js';
import { systemClock } from '../../src/ports/clock.js';
import { StopSwitch } from '../../src/run/stop.js';
import { aJob, anSmsStep } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { NEW_LEAD, openStep } from './contract/cluster-under-test.js';
import { MemoryCluster } from './memory-store.js';

test('a worker takes up the job of a new leader, whose limits may be lower', async () => {
  const workspace = await aWorkspace();
  const store = new MemoryCluster(systemClock).connect();
  const lead = async (epoch: number, requestsPerSecond: number) => {
    const steps = [anSmsStep({ limits: { requestsPerSecond, messagesPerSecond: 100, concurrency: 1 } })];
    workspace.writeJob(aJob(workspace, { steps }));
    const job = await loadJob(workspace.path('job.yaml'));
    await store.lead({ run: 'run-a', epoch }, { ...NEW_LEAD, job: encodeWorkerJob(job.name, job) });
    await openStep(store, { run: 'run-a', epoch });
  };
  const stop = new StopSwitch();
  const limits: (number | undefined)[] = [];
  const openService: WorkOptions['openService'] = async (_, job) => {
    const [step] = job?.steps ?? [];
    limits.push(step !== undefined && 'limits' in step ? step.limits.requestsPerSecond : undefined);
    if (limits.length === 2) stop.request('interrupted', 'seen');
    else await lead(2, 10);
    return undefined;
  };
  await lead(1, 20);
  const deps = { store, clock: systemClock, random: () => 0.5, onProgress: () => {}, onNotice: () => {} };
  await workForRuns({ only: undefined, isOver: () => false, leaseMs: 30_000, name: 'w', openService }, stop, deps);

  expect(limits).toEqual([20, 10]);
});
