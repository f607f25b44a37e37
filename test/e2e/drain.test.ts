import { expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { until } from './command.js';

const DRAIN_MS = 30_000;

/** Loaded before the command: thirty seconds are over as soon as there is this file; every other time passes as ever. */
const TIME_IS_UP = 'time-is-up';
const PASSING = `data:text/javascript,${encodeURIComponent(`import { existsSync } from 'node:fs';
const wait = globalThis.setTimeout;
globalThis.setTimeout = (task, ms, ...more) => {
  if (ms !== ${DRAIN_MS}) return wait(task, ms, ...more);
  const polling = setInterval(() => {
    if (!existsSync('${TIME_IS_UP}')) return;
    clearInterval(polling);
    task(...more);
  }, 5);
  return polling;
};`)}`;

test('one signal before a service that never answers: the wait is bounded, the next process stays out meanwhile', async () => {
  const workspace = await aWorkspace({ kind: 'latency', delayMs: 600_000, nth: [2, 3] });
  workspace.write('people.csv', people(50));
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ limits: { requestsPerSecond: 1800, concurrency: 2 } })] }));
  const draining = workspace.start(['run', 'job.yaml'], { nodeArguments: ['--import', PASSING] });
  // The first is a probe.
  await until(() => workspace.requests().length === 3);
  draining.signal('SIGTERM');
  await draining.says('nothing new is sent');

  const next = await workspace.run();
  expect([next.code, next.stderr]).toEqual([75, expect.stringContaining('is running it')]);
  expect(workspace.requests()).toHaveLength(3);

  workspace.write(TIME_IS_UP, '');
  const { code, summary } = await workspace.finish(draining);
  expect(code).toBe(75);
  expect(summary).toMatchObject({ state: 'stopped', balance: { accepted: 10, inDoubt: 20, unprocessed: 20 } });
  expect(workspace.read(`${workspace.runOf(summary.plan)}/journal.ndjson`)).toContain('"type":"close"');

  const again = await workspace.run();
  expect([again.code, again.summary.balance]).toEqual([3, expect.objectContaining({ accepted: 30, inDoubt: 20 })]);
  expect(await workspace.destinations()).toEqual([...numbersOf(10), ...numbersOf(20, 31)]);
});
