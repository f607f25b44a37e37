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

test('with --wait the job is planned at once, and sent at its time', async () => {
  const notBefore = inMs(2500);
  const workspace = await aWorkspaceWith({ notBefore });

  const { code } = await workspace.run('--wait');

  expect(code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(15));
  const sent = (await workspace.sms()).map(({ at }) => at);
  expect(Math.min(...sent.map((each) => new Date(each).getTime()))).toBeGreaterThanOrEqual(Date.parse(notBefore));
});

test('notAfter that has passed refuses the plan with the line of the job: exit 2', async () => {
  const workspace = await aWorkspaceWith({ notAfter: '2020-01-01T00:00:00Z' });

  const { code, stderr } = await workspace.run();

  expect(code).toBe(2);
  expect(stderr).toMatch(/job\.yaml:\d+(:\d+)?: notAfter, 1 January 2020 at 00:00 UTC, is in the past/);
  expect(workspace.directories()).toEqual([]);
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

test('a local time of a zone is sent to the service as an instant with its offset', async () => {
  const tomorrow = new Date(Date.now() + DAY_MS + 8 * 3_600_000).toISOString().slice(0, 16).replace('T', ' ');
  const template = { source: 'ACME', text: 'Hi', scheduled: { at: tomorrow, timeZone: 'Asia/Singapore' } };
  const workspace = await aWorkspaceWith({ steps: [anSmsStep({ template })] });

  expect((await workspace.run()).code).toBe(0);

  const wanted = `${tomorrow.replace(' ', 'T')}:00+08:00`;
  expect(workspace.read(`out/sale/${workspace.runs()[0]}/1-sms.requests.ndjson`)).toContain(`"scheduled":"${wanted}"`);
});
