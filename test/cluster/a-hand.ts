import type { Store, TurnsAsked, WorkingRun } from '../../src/cluster/store.js';
import type { PartResult } from '../../src/journal/entry-format.js';
import type { Workspace } from '../e2e/a-workspace.js';
import { aWorker } from './a-run.js';

/** A worker in the hands of the test: it has claimed one request of the first step of a run. */
export async function aHand(store: Store) {
  let run: WorkingRun | undefined;
  while (run?.isOpen !== true) {
    await tick();
    run = await store.findRun({});
  }
  const worker = await aWorker({ connect: async () => store }, `w${Math.random()}`, run.run, run.epoch);
  let [part] = await worker.claim(1);
  while (part === undefined) {
    await tick();
    [part] = await worker.claim(1);
  }
  const attempt = { request: part.request, part: part.part, attempt: part.attempt };
  return {
    run,
    begin: () => {
      attempt.attempt += 1;
      return worker.begin(attempt);
    },
    end: (result: PartResult) => worker.end(result, attempt),
    /** Its lease ends, and what it had begun is in doubt. */
    die: () => store.recover(worker.key.worker),
  };
}

/** A millisecond: what a test waits for needs the processor. */
export function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

export async function untilSent(workspace: Pick<Workspace, 'destinations'>, rows: number): Promise<void> {
  while ((await workspace.destinations()).length < rows) await tick();
}

/** Turns that are asked of a lane at once, by a process that needs no slack. */
export function askingFor(costsMs: readonly number[]): TurnsAsked {
  const quiet = { slowed: false, succeeded: false, leastShare: 0.1, pauseMs: 0 };
  return { costsMs, urgent: costsMs.length, slackMs: 0, leadMs: 0, ...quiet };
}
