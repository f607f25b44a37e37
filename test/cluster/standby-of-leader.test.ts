import { expect, test, vi } from 'vitest';
import { aJob, anSmsStep, people } from '../e2e/a-job.js';
import { Machine } from '../e2e/a-machine.js';
import { aWorkspaceInProcess } from '../e2e/a-workspace.js';
import { expectEachOnce } from '../e2e/account.js';
import { readFailure, until } from '../e2e/command.js';
import { oneIn } from '../one-in.js';
import { aDatabase } from './postgres-server.js';

/** Of the lock of the job. */
const LEASE_MS = 60_000;
const LED_AND_STOOD_BY = /leads {6}pod-1 \d+\n {2}stands by {2}pod-2 \d+\n/;

const CASES: readonly [how: string, play: () => Promise<void>][] = [
  [
    'that was killed: what it had under way is in doubt, nothing else',
    async () => {
      const { workspace, leader, takeOver } = await aLedPair({ sendHere: true, answersInMs: 600_000 });
      leader.signal('SIGKILL');
      await leader.ended;
      workspace.setFaults();
      const { code, summary } = await takeOver();

      expect([code, summary.balance]).toEqual([3, expect.objectContaining({ accepted: 20, inDoubt: 10 })]);
      await expectEachOnce(workspace, 30);
    },
  ],
  [
    'that is stopped beyond its lease: the woken one sends nothing more',
    async () => {
      const { workspace, first, leader, takeOver } = await aLedPair({ sendHere: true, answersInMs: 1_000 });
      first.passes(LEASE_MS);
      const { code, summary } = await takeOver();
      const requests = workspace.requests().length;
      leader.signal('SIGCONT');
      const woken = await leader.ended;

      expect([code, readFailure(woken).error.code]).toEqual([3, 'lock-held']);
      expect([workspace.requests().length, summary.balance.inDoubt]).toEqual([requests, 10]);
      await expectEachOnce(workspace, 30);
    },
  ],
  [
    'that was killed, and whose worker lives: nothing is in doubt; status says who leads and who stands by',
    async () => {
      const { workspace, leader, worker, status, takeOver } = await aLedPair({ sendHere: false, answersInMs: 1_000 });
      // It shows itself a moment after it has said so.
      await vi.waitFor(async () => expect(await status()).toMatch(LED_AND_STOOD_BY), { timeout: 60_000 });
      leader.signal('SIGKILL');
      await leader.ended;
      const { code, summary } = await takeOver();

      expect([code, summary.balance]).toEqual([0, expect.objectContaining({ accepted: 30, inDoubt: 0 })]);
      expect((await worker?.ended)?.code).toBe(0);
      await expectEachOnce(workspace, 30);
    },
  ],
];

test.each(oneIn(3, CASES))('a standby takes over after the lease of a leader %s', (_, play) => play());

/** A leader that is stopped as the second request waits for its answer, its own or that of a worker, and a process on another machine that stands by. */
async function aLedPair({ sendHere, answersInMs }: { sendHere: boolean; answersInMs: number }) {
  const workspace = await aWorkspaceInProcess({ kind: 'latency', delayMs: answersInMs, nth: 2 });
  workspace.write('people.csv', people(30));
  const { url, database } = await aDatabase();
  workspace.write('address', url);
  const limits = { requestsPerSecond: 50, messagesPerSecond: 25_000, concurrency: 1 };
  // The leader counts as there while it is stopped, however slow this machine is.
  const cluster = { database: { file: 'address' }, leaseSeconds: 600, sendHere };
  workspace.writeJob(aJob(workspace, { cluster, steps: [anSmsStep({ limits })] }));
  const first = new Machine(workspace, 'pod-1');
  const second = new Machine(workspace, 'pod-2');
  const leader = first.start('run', 'job.yaml', '--standby');
  const worker = sendHere ? undefined : workspace.start(['work', 'job.yaml', '--until-done']);
  await until(() => workspace.requests().length >= 2);
  leader.signal('SIGSTOP');
  const standby = second.start('run', 'job.yaml', '--standby');
  await standby.says('stands by: process');
  return {
    ...{ workspace, first, leader, worker },
    status: async () => (await workspace.volley('cluster', 'status', '--database-file', 'address', '--no-json')).stdout,
    /** The leases of the leader, and of the worker in it, end by the clocks of those who wait for them. */
    takeOver: async () => {
      await database.query("update volley.worker set lease_until = clock_timestamp() where name like 'pod-1 %'");
      second.passes(LEASE_MS);
      return workspace.finish(standby);
    },
  };
}
