import { expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const DAY_MS = 86_400_000;

async function aWorkspaceWith(changes: object): Promise<Workspace> {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(15));
  workspace.writeJob(aJob(workspace, changes as Record<string, unknown>));
  return workspace;
}

test('before notBefore, run and apply send nothing, name the time and end with 75', async () => {
  const workspace = await aWorkspaceWith({ notBefore: inMs(DAY_MS) });

  const ran = await workspace.run();
  const planned = await workspace.volley('plan', 'job.yaml');
  const applied = await workspace.volley('apply', JSON.parse(planned.stdout).directory);

  for (const ended of [ran, applied]) {
    expect(ended.code).toBe(75);
    expect(readFailure(ended).error).toMatchObject({
      code: 'not-yet',
      message: expect.stringMatching(/before .* \(notBefore\), which is in 24 h/),
    });
  }
  expect(planned.code).toBe(0);
  expect(workspace.requests()).toEqual([]);
});

test('what a run has not sent by notAfter is too late: exit 4, and a retry under a later one sends each once', async () => {
  const slow = anSmsStep({ batchSize: 1, limits: { requestsPerSecond: 4, concurrency: 1 } });
  const workspace = await aWorkspaceWith({ notAfter: inMs(2500), steps: [slow] });

  const { code, stdout, summary } = await workspace.run();

  const late = summary.balance.unprocessed;
  expect([code, summary.state, summary.balance.accepted + late]).toEqual([4, 'finished', 15]);
  expect(late).toBeGreaterThan(0);
  expect(summary.steps[0]).toMatchObject({ withheld: { 'too-late': late } });
  expect(stdout).toContain('too-late');
  const [directory = ''] = workspace.runs();
  expect((await workspace.volley('status', 'job.yaml')).code).toBe(0);

  workspace.writeJob(aJob(workspace, { notAfter: inMs(DAY_MS), steps: [anSmsStep()] }));
  const retry = ['retry', `out/sale/${directory}`, '--only', 'unprocessed', '--job', 'job.yaml'];
  const plan = JSON.parse((await workspace.volley(...retry)).stdout);
  expect((await workspace.volley('apply', plan.directory)).summary.balance).toMatchObject({
    read: late,
    accepted: late,
  });
  expect(await workspace.destinations()).toEqual(numbersOf(15));
});
