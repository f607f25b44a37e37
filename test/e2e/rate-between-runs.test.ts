import { expect, test } from 'vitest';
import type { Env } from '../../src/command/env.js';
import type { Clock } from '../../src/ports/clock.js';
import { createLane } from '../../src/throttle/lane.js';
import { anSmsStep, people } from './a-job.js';
import { aWorkspaceBeside, volleyIn } from './a-workspace.js';

const PER_SECOND = 1000;

/** Time that passes only while a lane waits, in its short sleeps; others, such as that of a lock until its renewal, end when the test ends them. */
class LaneClock implements Clock {
  #ms = 1_800_000_000_000;

  now(): number {
    return this.#ms;
  }

  monotonicMs(): number {
    return this.#ms;
  }

  async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    if (delayMs <= LONGEST_OF_A_LANE_MS) this.#ms += delayMs;
    else if (!signal?.aborted) await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
  }
}

const LONGEST_OF_A_LANE_MS = 250;

/** A job of 1,000 messages a second, and a sandbox by the same clock; `worstSecond`: most messages in any second of its ledger. */
async function aFastJob() {
  const clock = new LaneClock();
  const workspace = await aWorkspaceBeside({ clock });
  const input = { files: 'in-*.csv' };
  workspace.change({ steps: [anSmsStep({ input, batchSize: PER_SECOND, limits: { messagesPerSecond: PER_SECOND } })] });
  const random = () => 0.5;
  const loadLane: Env['loadLane'] = async () => (options) => createLane({ ...options, clock, random });
  return {
    workspace,
    /** A process of its own. */
    run: async () => (await volleyIn(workspace, { runtime: { clock, random, loadLane } }, 'run', 'job.yaml')).code,
    worstSecond: async () => {
      const times = (await workspace.ledger()).map(({ at }) => Date.parse(at));
      expect(times).toEqual(times.toSorted((one, other) => one - other));
      let [worst, first] = [0, 0];
      for (const [last, atMs] of times.entries()) {
        while ((times[first] ?? 0) <= atMs - 1000) first += 1;
        worst = Math.max(worst, last - first + 1);
      }
      return { worst, count: times.length };
    },
  };
}

test('the limit of a job holds in any second of the ledger over an old run and a new one, which one command sends', async () => {
  const { workspace, run, worstSecond } = await aFastJob();
  workspace.setFaults({ kind: 'status-401', area: 'sms', nth: 1 });
  workspace.write('in-a.csv', people(1000));
  expect(await run()).toBe(4);
  workspace.write('in-b.csv', people(1000, 2000));
  expect(await run()).toBe(0);
  expect(await worstSecond()).toEqual({ worst: 1000, count: 2000 });
});
