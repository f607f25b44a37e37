import { describe, expect, test } from 'vitest';
import { nodeEnv } from '../../src/command/env.js';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import { people } from './a-job.js';
import { Machine } from './a-machine.js';
import { aJobFor, type aWorkspaceInProcess as aWorkspace, volleyIn, type Workspace } from './a-workspace.js';
import { expectEachOnce } from './account.js';
import { type Running, until } from './command.js';
import { readFailure } from './failure.js';

const LEASE_MS = 60_000;

interface Asked {
  readonly wallMs?: number;
  readonly rows?: string;
  readonly job?: Readonly<Record<string, unknown>>;
  readonly more?: Parameters<typeof aWorkspace>[0];
  /** Its plan is made before, and applied. */
  readonly isPlanned?: boolean;
}

/** The second request waits until the test lets it go, and with it all that follow. */
const HANGS = { kind: 'latency', delayMs: 600_000, nth: 2 } as const;
const SLOW = { kind: 'latency', delayMs: 400 } as const;

describe.concurrent('a standby', () => {
  test('takes over a lease after its leader was killed, whose clock is ahead: what was in flight is in doubt, nothing else', async () => {
    const { workspace, leader, second, standby } = await aPair(HANGS, { wallMs: 120_000 });
    leader.signal('SIGKILL');
    await leader.ended;
    workspace.setFaults();
    second.passes(LEASE_MS);
    const { code, stderr, summary } = await workspace.finish(standby);

    expect([code, summary.balance]).toEqual([3, expect.objectContaining({ accepted: 20, inDoubt: 10 })]);
    expect(stderr.match(/stands by: process \d+ on pod-1 is running the job/g)).toHaveLength(1);
    expect(stderr).toMatch(/takes over the job: process \d+ on pod-1 gave no sign of life for 60 s/);
    await expectEachOnce(workspace, 30);
  });

  test('leaves a leader alone that lives, whose clock is behind, and ends with the exit code of its run', async () => {
    const { workspace, leader, standby } = await aPair(SLOW, { wallMs: -120_000, rows: `${people(30)}P31,12\n` });
    const [led, stood] = await Promise.all([workspace.finish(leader), workspace.finish(standby)]);

    expect([led.code, stood.code]).toEqual([1, 1]);
    expect(stood.summary).toMatchObject({
      plan: led.summary.plan,
      balance: { accepted: 30, rejected: 1, inDoubt: 0 },
    });
    expect(stood.stderr).toMatch(/takes over the job: process \d+ on pod-1 has ended/);
    expect(workspace.requests()).toHaveLength(3);
    await expectEachOnce(workspace, 30);
  });

  test('of a leader of `apply` that is stopped beyond its lease: the woken leader sends nothing more', async () => {
    const hangs = { kind: 'latency', delayMs: 3000, nth: 2 } as const;
    const { workspace, first, leader, second, standby } = await aPair(hangs, { isPlanned: true });
    leader.signal('SIGSTOP');
    for (const machine of [first, second]) machine.passes(LEASE_MS);
    const { code } = await workspace.finish(standby);
    const requests = workspace.requests().length;
    leader.signal('SIGCONT');
    const woken = await leader.ended;

    expect([code, readFailure(woken).error.code]).toEqual([3, 'lock-held']);
    expect(workspace.requests()).toHaveLength(requests);
    await expectEachOnce(workspace, 30);
  });

  test('of a leader whose directory was taken away: it sends nothing more, and the standby finishes', async () => {
    const { workspace, first, leader, second, standby } = await aPair({ kind: 'latency', delayMs: 3000, nth: 2 });
    first.loseDisk();
    const gone = await leader.ended;
    expect([gone.code, workspace.requests().length], gone.stdout).toEqual([75, 2]);
    second.passes(LEASE_MS);
    const { code, summary } = await workspace.finish(standby);

    // The answer came, and its row in the journal may have come as well.
    expect([code, summary.state]).toEqual([summary.balance.inDoubt > 0 ? 3 : 0, 'finished']);
    await expectEachOnce(workspace, 30);
  });

  test('ends with 4 where its leader was stopped by an answer that a person must look at, and sends nothing', async () => {
    const { workspace, leader } = await aLeader(SLOW, { more: { kind: 'status-401', nth: 3 } });
    const stood = await standByHere(workspace, leader);
    const led = await workspace.finish(leader);

    expect([led.code, stood.code]).toEqual([4, 4]);
    expect(stood.summary.stop).toEqual(led.summary.stop);
    expect(workspace.requests()).toHaveLength(3);
  });

  test('goes on at once where its leader got SIGTERM, and ends when it gets one itself', async () => {
    const { workspace, leader, standby } = await aPair({ kind: 'latency', delayMs: 3000 }, { rows: people(50) });
    const third = new Machine(workspace, 'pod-3').start('run', 'job.yaml', '--standby');
    await third.says('stands by: process');
    third.signal('SIGTERM');
    expect(readFailure(await third.ended)).toMatchObject({
      exitCode: 75,
      error: {
        code: 'lock-held',
        message: expect.stringMatching(/SIGTERM came while process \d+ on pod-1 was running it/),
      },
    });
    leader.signal('SIGTERM');
    workspace.setFaults();
    const { code, summary } = await workspace.finish(standby);

    expect([(await leader.ended).code, code, summary.balance]).toEqual([
      75,
      0,
      expect.objectContaining({ accepted: 50 }),
    ]);
    await expectEachOnce(workspace, 50);
  });

  test('of a job of every day begins no second day when its leader ends after midnight', async () => {
    const { workspace, leader } = await aLeader(SLOW, { job: { repeat: 'per-day' } });
    const stood = await standByHere(workspace, leader, 86_400_000);
    const led = await workspace.finish(leader);

    expect([led.code, stood.code, stood.summary.plan]).toEqual([0, 0, led.summary.plan]);
    expect(workspace.runs()).toHaveLength(1);
    await expectEachOnce(workspace, 30);
  });
});

test('a standby of what is sent again each time is refused: it would send it once more', async () => {
  const workspace = await aJobFor(people(30));
  const again = await workspace.run('--standby', '--again');
  workspace.change({ repeat: 'always' });
  const always = await workspace.run('--standby');

  expect([again, always].map((end) => readFailure(end).error.code)).toEqual(['bad-flag', 'bad-job']);
  expect(workspace.requests()).toHaveLength(0);
});

/** A leader that waits for the answer to its second request, and is stopped. */
async function aLeader(
  fault: Parameters<typeof aWorkspace>[0] & object,
  { wallMs = 0, rows = people(30), job = {}, more, isPlanned = false }: Asked = {},
) {
  const workspace = await aJobFor(rows, job, ...(more === undefined ? [fault] : [fault, more]));
  if (isPlanned) await workspace.volley('plan', 'job.yaml');
  const send = isPlanned ? ['apply', workspace.firstRun()] : ['run', 'job.yaml'];
  const first = new Machine(workspace, 'pod-1', wallMs);
  const leader = first.start(...send, '--standby');
  await until(() => workspace.requests().length === 2);
  leader.signal('SIGSTOP');
  return { workspace, first, leader, send };
}

/** The same, woken again, and a process that stands by. */
async function aPair(...asked: Parameters<typeof aLeader>) {
  const { workspace, first, leader, send } = await aLeader(...asked);
  const second = new Machine(workspace, 'pod-2');
  const standby = second.start(...send, '--standby');
  await standby.says('stands by: process');
  leader.signal('SIGCONT');
  return { workspace, first, leader, second, standby };
}

/** In this process, as on another machine; wakes the leader as soon as it waits, and its wall clock is ahead from then on. */
function standByHere(workspace: Workspace, leader: Running, aheadMs = 0) {
  let isWaiting = false;
  const clock: Clock = {
    ...systemClock,
    now: () => Date.now() + (isWaiting ? aheadMs : 0),
    sleep: (delayMs, signal) => {
      if (!isWaiting) leader.signal('SIGCONT');
      isWaiting = true;
      return systemClock.sleep(delayMs, signal);
    },
  };
  const runtime = { clock, owner: { ...nodeEnv.owner, host: 'pod-2' } };
  return volleyIn(workspace, { runtime }, 'run', 'job.yaml', '--standby');
}
