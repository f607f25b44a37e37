import { expect, test } from 'vitest';
import { aJob, anSmsStep, people } from './a-job.js';
import { aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce } from './account.js';
import { until } from './command.js';

const REQUESTS_PER_SECOND = 20;
const SECOND_MS = 1000;
/**
 * How much later than it left a request may be seen to arrive, on a machine that is busy: requests that left in less than a
 * second, all but this, are counted together. Neither may a request that was late hide that others came too early.
 */
const ARRIVAL_SLACK_MS = 250;

test('20 requests a second are not exceeded: not behind a Retry-After, not by a process that resumes where another was killed', async () => {
  const workspace = await aWorkspace(
    { kind: 'latency', delayMs: 80 },
    { kind: 'status-429', nth: 12, retryAfter: 1 },
    { kind: 'status-503', nth: 30, retryAfter: 1 },
  );
  workspace.write('people.csv', people(50));
  const limits = { requestsPerSecond: REQUESTS_PER_SECOND, concurrency: 8 };
  workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ batchSize: 1, limits })], failOn: 'nothing' }));

  const killed = [await killBehind(workspace, 429), await killBehind(workspace, 503)];
  const { code, summary } = await workspace.run();

  expect(code).toBe(0);
  expectEveryRowOnce(summary);
  const times = workspace.requests().map(({ atMs }) => atMs);
  expect(mostWithin(times, SECOND_MS - ARRIVAL_SLACK_MS)).toBeLessThanOrEqual(REQUESTS_PER_SECOND + 1);
  // A request was open each time: it may have left in the last moment before its process was killed.
  const gaps = killed.map((count) => (times[count] ?? 0) - (times[count - 1] ?? 0));
  expect(gaps.filter((gapMs) => gapMs < SECOND_MS - ARRIVAL_SLACK_MS)).toEqual([]);
});

/** Kills the command in the midst of the second request that it sends after the lane was held; gives how many had come by then. */
async function killBehind(workspace: Workspace, status: number): Promise<number> {
  const running = workspace.start(['run', 'job.yaml']);
  const isHeld = () => workspace.requests().findIndex((request) => request.status === status);
  await until(() => isHeld() !== -1);
  const { atMs } = workspace.requests()[isHeld()]!;
  await until(() => workspace.requests().filter((request) => request.atMs > atMs + SECOND_MS).length > 1);
  running.signal('SIGKILL');
  await running.ended;
  return workspace.requests().length;
}

/** The most that came within any time of this length. `times` in their order. */
function mostWithin(times: readonly number[], lengthMs: number): number {
  return Math.max(
    ...times.map((fromMs, first) => times.slice(first).filter((atMs) => atMs < fromMs + lengthMs).length),
  );
}
