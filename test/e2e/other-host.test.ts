import { expect, test } from 'vitest';
import { aJob, numbersOf, people } from './a-job.js';
import { aWorkspace, type Workspace } from './a-workspace.js';
import { until } from './command.js';

/** Another machine on the same volume, whose clock is ahead by so much. */
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

    const early = await start(workspace, 'pod-2').ended;
    expect([early.code, early.stderr]).toEqual([75, expect.stringContaining('pod-1')]);
    expect(workspace.requests()).toHaveLength(2);

    const late = await workspace.finish(start(workspace, 'pod-2', Math.max(aheadMs, 0) + 61_000));
    expect([late.code, late.summary.balance]).toEqual([3, expect.objectContaining({ accepted: 20, inDoubt: 10 })]);
    expect(await workspace.destinations()).toEqual([...numbersOf(10), ...numbersOf(10, 21)].sort());
  },
);
