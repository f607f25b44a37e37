import { cpSync, promises } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Env, nodeEnv } from '../../src/command/env.js';
import { createFiles, type RawFiles } from '../../src/storage/files.js';
import { aJob, people } from './a-job.js';
import { aWorkspaceInProcess, volleyIn, type Workspace } from './a-workspace.js';
import { readFailure } from './failure.js';

/** A number of a person, and a secret, that stand in what is read. */
const PERSON = '+6591000002';
const SECRET = 'hunter2-hunter2';

/** Each verb on a job or a run, as it is given where all is well. */
const VERBS: Readonly<Record<string, (run: string) => string[]>> = {
  run: () => ['run', 'job.yaml'],
  plan: () => ['plan', 'job.yaml', '--again'],
  apply: (run) => ['apply', run],
  status: (run) => ['status', run],
  report: (run) => ['report', run],
  settle: (run) => ['settle', run, '--assume', 'not-sent', '--confirm', '10'],
  retry: (run) => ['retry', run, '--only', 'rejected'],
};

/** A world whose disk fails so; or opens nothing. */
function failing(change: Partial<RawFiles>): Env {
  return { ...nodeEnv, files: createFiles({ ...promises, ...change }) };
}

const UNFORESEEN = failing({
  readFile: (async (path: string, ...more: []) => {
    if (!/job\.yaml$|plan\.json$/.test(path)) return promises.readFile(path, ...more);
    throw new TypeError(`of ${PERSON} and ${SECRET}`);
  }) as RawFiles['readFile'],
});

/** The lock cannot be written; nor can the journal be opened. */
const FULL_DISK = failing({
  open: async (path, ...more) => {
    if (!/lock-|journal/.test(String(path))) return promises.open(path, ...more);
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC', syscall: 'open', path });
  },
});

/** An ended run of 50 rows: ten in doubt, and some that the service refused. */
async function anEndedRun(): Promise<{ workspace: Workspace; run: string }> {
  const workspace = await aWorkspaceInProcess(
    { kind: 'reject-rows', nth: 1, rows: 0.1 },
    { kind: 'reset-after', nth: 2 },
  );
  workspace.write('people.csv', people(50));
  workspace.writeJob(aJob(workspace));
  expect((await workspace.run()).code).toBe(3);
  return { workspace, run: `out/sale/${workspace.runs()[0]}` };
}

test('every verb on a job or a run writes one JSON object where the disk is full (75) and where it fails unexpectedly (4); a person reads it on stderr', async () => {
  const { workspace, run } = await anEndedRun();
  for (const [verb, argsOf] of Object.entries(VERBS)) {
    const give = (runtime: Env, ...more: string[]) => volleyIn(workspace, { runtime }, ...argsOf(run), ...more);
    const full = readFailure(await give(FULL_DISK));
    expect([verb, full]).toMatchObject([verb, { state: 'stopped', exitCode: 75, error: { code: 'ENOSPC' } }]);
    expect(full.error.message).toContain(workspace.path('out/sale/'));
    expect(full.error.hint).toContain('run the same command');
    const read = await give(FULL_DISK, '--no-json');
    expect([verb, read.code, read.stdout, read.stderr.includes('ENOSPC')]).toEqual([verb, 75, '', true]);

    const failed = await give(UNFORESEEN);
    expect(readFailure(failed)).toMatchObject({ state: 'failed', exitCode: 4, error: { code: 'unexpected' } });
    expect(failed.stdout).not.toContain(PERSON.slice(3));
    expect(failed.stdout).not.toContain(SECRET);
  }
});

describe.concurrent('one JSON object on stdout', () => {
  test.each([
    ['run', ['run', 'job.yaml']],
    ['plan', ['plan', 'job.yaml']],
  ])('%s that a guard stops (4) has the figures of the plan, too', async (_, args) => {
    const workspace = await aWorkspaceInProcess();
    workspace.write('people.csv', `${people(9)}Nobody,\n`);
    workspace.writeJob(aJob(workspace, { guards: { maxRejectedPercent: 5, maxMessages: 8 } }));

    const ended = await workspace.volley(...args);

    const failure = readFailure(ended);
    expect(failure).toMatchObject({ state: 'stopped', exitCode: 4, error: { code: 'guard' } });
    expect(failure.error.problems.map(({ file, line }) => [file, line])).toEqual([
      ['step 1 (sms)', null],
      ['plan', null],
    ]);
    expect(JSON.parse(ended.stdout)).toMatchObject({ job: 'sale', plan: workspace.plans()[0], steps: [{ number: 1 }] });
    const applied = readFailure(await workspace.volley('apply', `out/sale/${workspace.runs()[0]}`));
    expect(applied).toMatchObject({ state: 'stopped', exitCode: 4, error: { code: 'guard' } });
  });

  test('a copy of a run is refused with one', async () => {
    const { workspace, run } = await anEndedRun();
    cpSync(workspace.path(run), workspace.path('copy'), { recursive: true });
    expect(readFailure(await workspace.volley('status', 'copy'))).toMatchObject({
      exitCode: 2,
      error: { code: 'bad-plan' },
    });
  });
});
