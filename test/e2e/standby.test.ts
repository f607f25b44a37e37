import { describe, expect, test } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import { type Files, nodeFiles } from '../../src/storage/files.js';
import { people } from './a-job.js';
import { Machine } from './a-machine.js';
import { aJobFor, type aWorkspaceInProcess as aWorkspace, volleyIn, type Workspace } from './a-workspace.js';
import { expectEachOnce } from './account.js';
import { readFailure, until } from './command.js';

const LEASE_MS = 60_000;

type Fault = Parameters<typeof aWorkspace>[0] & object;

interface Asked {
  readonly wallMs?: number;
  readonly rows?: string;
  readonly job?: Readonly<Record<string, unknown>>;
  readonly more?: Fault;
  /** Its plan is made before, and applied. */
  readonly isPlanned?: boolean;
  /** The volume as the standby sees it. */
  readonly files?: Files;
}

/** The second request waits until the test lets it go, and with it all that follow. */
const HANGS = { kind: 'latency', delayMs: 600_000, nth: 2 } as const;
const LATE = { kind: 'latency', delayMs: 1500, nth: 2 } as const;
const SLOW = { kind: 'latency', delayMs: 400 } as const;

describe('a standby', () => {
  test('takes over a lease after its leader was killed, whose clock is ahead: what was in flight is in doubt, nothing else', async () => {
    const { workspace, leader, standby } = await aPair(HANGS, { wallMs: 120_000 });
    leader.signal('SIGKILL');
    await leader.ended;
    standby.passes(LEASE_MS);
    const { code, stderr, summary } = await standby.ended;

    expect([code, summary.balance]).toMatchObject([3, { accepted: 20, inDoubt: 10 }]);
    expect(stderr.match(/stands by: process \d+ on pod-1 is running the job/g)).toHaveLength(1);
    expect(stderr).toMatch(/takes over the job: process \d+ on pod-1 gave no sign of life for 60 s/);
    await expectEachOnce(workspace, 30);
  });

  test('leaves a leader alone that lives, whose clock is behind, and ends with the exit code of its run', async () => {
    const { workspace, leader, standby } = await aPair(SLOW, { wallMs: -120_000, rows: `${people(30)}P31,12\n` });
    const [led, stood] = [await workspace.finish(leader), await standby.ended];

    expect([led.code, stood.code, stood.summary.plan]).toEqual([1, 1, led.summary.plan]);
    expect(stood.summary.balance).toMatchObject({ accepted: 30, rejected: 1, inDoubt: 0 });
    expect(stood.stderr).toMatch(/takes over the job: process \d+ on pod-1 has ended/);
    expect(workspace.requests()).toHaveLength(3);
    await expectEachOnce(workspace, 30);
  });

  test('of a leader of `apply` that is stopped beyond its lease: the woken leader sends nothing more', async () => {
    const { workspace, first, leader, standby } = await aPair(LATE, { isPlanned: true });
    leader.signal('SIGSTOP');
    for (const each of [first, standby]) each.passes(LEASE_MS);
    const { code } = await standby.ended;
    const requests = workspace.requests().length;
    leader.signal('SIGCONT');
    const woken = await leader.ended;

    expect([code, readFailure(woken).error.code]).toEqual([3, 'lock-held']);
    expect(workspace.requests()).toHaveLength(requests);
    await expectEachOnce(workspace, 30);
  });

  test('of a leader whose directory was taken away: it sends nothing more, and the standby finishes', async () => {
    const { workspace, first, leader, standby } = await aPair(LATE);
    first.loseDisk();
    const gone = await leader.ended;
    expect([gone.code, workspace.requests().length], gone.stdout).toEqual([75, 2]);
    standby.passes(LEASE_MS);
    const { code, summary } = await standby.ended;

    // The answer came, and its row in the journal may have come as well.
    expect([code, summary.state]).toEqual([summary.balance.inDoubt > 0 ? 3 : 0, 'finished']);
    await expectEachOnce(workspace, 30);
  });

  test('ends with 4 where its leader was stopped by an answer that a person must look at, and sends nothing', async () => {
    const { workspace, leader, standby } = await aPair(SLOW, { more: { kind: 'status-401', nth: 3 } });
    const [led, stood] = [await workspace.finish(leader), await standby.ended];

    expect([led.code, stood.code]).toEqual([4, 4]);
    expect(stood.summary.stop).toEqual(led.summary.stop);
    expect(workspace.requests()).toHaveLength(3);
  });

  test('says at once that it could not take over where its mount shows the directory as another one, and does not', async () => {
    const stat = async (path: string) => {
      const found = await nodeFiles.stat(path);
      return found?.isDirectory ? { ...found, inode: found.inode + 1 } : found;
    };
    const { leader, standby } = await aPair(HANGS, { files: { ...nodeFiles, stat } });
    leader.signal('SIGKILL');
    standby.passes(LEASE_MS);
    const { code, stderr } = await standby.ended;

    expect([code, stderr.match(/could not take over: .*out\/sale looks like a copy here/g)]).toMatchObject([4, [{}]]);
    expect(stderr.indexOf('could not take over')).toBeLessThan(stderr.indexOf('takes over the job'));
  });

  test('goes on at once where its leader got SIGTERM, and ends when it gets one itself', async () => {
    const { workspace, leader, standby } = await aPair(
      { kind: 'latency', delayMs: 3000, nth: [2, 3, 4, 5] },
      { rows: people(50) },
    );
    const third = new Machine(workspace, 'pod-3').start('run', 'job.yaml', '--standby');
    await third.says('stands by: process');
    third.signal('SIGTERM');
    const message = expect.stringMatching(/SIGTERM came while process \d+ on pod-1 was running it/);
    expect(readFailure(await third.ended)).toMatchObject({ exitCode: 75, error: { code: 'lock-held', message } });
    leader.signal('SIGTERM');
    workspace.setFaults();
    const { code, summary } = await standby.ended;

    expect([(await leader.ended).code, code, summary.balance.accepted]).toEqual([75, 0, 50]);
    await expectEachOnce(workspace, 50);
  });

  test('of a job of every day begins no second day when its leader ends after midnight', async () => {
    const { workspace, leader, standby } = await aPair(SLOW, { job: { repeat: 'per-day' } });
    standby.isPastMidnight();
    const [led, stood] = [await workspace.finish(leader), await standby.ended];

    expect([led.code, stood.code, stood.summary.plan]).toEqual([0, 0, led.summary.plan]);
    expect(workspace.runs()).toHaveLength(1);
    await expectEachOnce(workspace, 30);
  });
});

test('a standby of what is sent again each time is refused: it would send it once more', async () => {
  const workspace = await aJobFor(people(30));
  expect((await workspace.refused('run', 'job.yaml', '--standby', '--again')).error.code).toBe('bad-flag');
  workspace.change({ repeat: 'always' });
  expect((await workspace.refused('run', 'job.yaml', '--standby')).error.code).toBe('bad-job');
  expect(workspace.requests()).toHaveLength(0);
});

/** A leader that waits for the answer to its second request, and a process that stands by. */
async function aPair(
  fault: Fault,
  { wallMs = 0, rows = people(30), job = {}, more, isPlanned = false, files = nodeFiles }: Asked = {},
) {
  const workspace = await aJobFor(rows, job, ...(more === undefined ? [fault] : [fault, more]));
  const send = isPlanned ? ['apply', await workspace.plan()] : ['run', 'job.yaml'];
  const first = new Machine(workspace, 'pod-1', wallMs);
  const leader = first.start(...send, '--standby');
  await until(() => workspace.requests().length === 2);
  leader.signal('SIGSTOP');
  const standby = standBy(workspace, send, files);
  await standby.waits;
  leader.signal('SIGCONT');
  return { workspace, first, leader, standby };
}

/** In this process, as on another machine, with clocks of its own. */
function standBy(workspace: Workspace, send: readonly string[], files: Files) {
  const ahead = { wallMs: 0, passedMs: 0 };
  let wait = () => {};
  const waits = new Promise<void>((resolve) => {
    wait = resolve;
  });
  const clock: Clock = {
    now: () => Date.now() + ahead.wallMs,
    monotonicMs: () => performance.now() + ahead.passedMs,
    sleep: (delayMs, signal) => {
      wait();
      return systemClock.sleep(delayMs, signal);
    },
  };
  const runtime = { files, clock, owner: { ...nodeEnv.owner, host: 'pod-2' } };
  return {
    ended: volleyIn(workspace, { runtime }, ...send, '--standby'),
    waits,
    /** So much time passes on both clocks, all at once. */
    passes: (ms: number) => {
      ahead.wallMs += ms;
      ahead.passedMs += ms;
    },
    isPastMidnight: () => {
      ahead.wallMs += 86_400_000;
    },
  };
}
