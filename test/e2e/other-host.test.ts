import { expect, test } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { systemClock } from '../../src/ports/clock.js';
import { aJob, numbersOf, people } from './a-job.js';
import { aWorkspace, volleyIn, type Workspace } from './a-workspace.js';
import { until } from './command.js';

/** A process of a machine with this name, whose clock is ahead by so much. */
function start(workspace: Workspace, host: string, aheadMs = 0) {
  const name = `${host}-${aheadMs}.mjs`;
  workspace.write(
    name,
    `import os from 'node:os';
import { syncBuiltinESMExports } from 'node:module';
os.hostname = () => '${host}';
syncBuiltinESMExports();
const now = Date.now;
Date.now = () => now() + ${aheadMs};
`,
  );
  return workspace.start(['run', 'job.yaml'], { nodeArguments: ['--import', `./${name}`] });
}

/** The same command on another machine on the same volume. */
function runOn(workspace: Workspace, host: string, aheadMs = 0) {
  const clock = { ...systemClock, now: () => Date.now() + aheadMs };
  const runtime = { ...nodeEnv, clock, owner: { ...nodeEnv.owner, host } };
  return volleyIn(workspace, { runtime }, 'run', 'job.yaml');
}

test.each([0, 120_000])(
  'a process that died on another machine, whose clock is ahead by %i ms, keeps the job for its lease and no longer',
  async (aheadMs) => {
    const workspace = await aWorkspace({ kind: 'latency', delayMs: 600_000, nth: 2 });
    workspace.write('people.csv', people(30));
    workspace.writeJob(aJob(workspace));
    const dead = start(workspace, 'pod-1', aheadMs);
    await until(() => workspace.requests().length === 2);
    dead.signal('SIGKILL');
    await dead.ended;
    workspace.setFaults();

    const early = await runOn(workspace, 'pod-2');
    expect([early.code, early.stderr]).toEqual([75, expect.stringContaining('pod-1')]);
    expect(workspace.requests()).toHaveLength(2);

    const late = await runOn(workspace, 'pod-2', aheadMs + 61_000);
    expect([late.code, late.summary.balance]).toEqual([3, expect.objectContaining({ accepted: 20, inDoubt: 10 })]);
    expect(await workspace.destinations()).toEqual([...numbersOf(10), ...numbersOf(10, 21)].sort());
  },
);
