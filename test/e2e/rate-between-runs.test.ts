import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Env } from '../../src/command/env.js';
import type { Clock } from '../../src/ports/clock.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { createLane } from '../../src/throttle/lane.js';
import { aJob, anSmsStep, people } from './a-job.js';
import { runCommandInProcess } from './command-in-process.js';
import { closeAfterFile } from './opened.js';

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
  const directory = mkdtempSync(join(tmpdir(), 'volley-e2e-'));
  const sandbox = await startSandbox({ rateLimits: {}, clock });
  closeAfterFile({
    close: async () => {
      await sandbox.close();
      rmSync(directory, { recursive: true });
    },
  });
  const limits = { messagesPerSecond: PER_SECOND };
  const step = anSmsStep({ input: { files: 'in-*.csv' }, batchSize: PER_SECOND, limits });
  writeFileSync(join(directory, 'job.yaml'), JSON.stringify(aJob({ sandbox }, { steps: [step] })));
  return {
    sandbox,
    write: (name: string, text: string) => writeFileSync(join(directory, name), text),
    /** A process of its own. */
    run: async () => {
      const random = () => 0.5;
      const loadLane: Env['loadLane'] = async () => (options) => createLane({ ...options, clock, random });
      const runtime = { clock, random, loadLane };
      const env = { VOLLEY_API_KEY: sandbox.credentials.apiKey };
      return (await runCommandInProcess(['run', 'job.yaml'], { cwd: directory, env, runtime })).code;
    },
    worstSecond: async () => {
      const times: number[] = [];
      for await (const { at } of sandbox.readLedger()) times.push(Date.parse(at));
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

describe('the limit of a job holds in any second of the ledger', () => {
  test('over an old run and a new one, which one command sends', async () => {
    const job = await aFastJob();
    job.sandbox.setFaults([{ kind: 'status-401', area: 'sms', nth: 1 }]);
    job.write('in-a.csv', people(1000));
    expect(await job.run()).toBe(4);
    job.sandbox.setFaults([]);
    job.write('in-b.csv', people(1000, 2000));
    expect(await job.run()).toBe(0);
    expect(await job.worstSecond()).toEqual({ worst: 1000, count: 2000 });
  });
});
