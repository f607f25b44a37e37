import type { EndEntry, Store, TurnsAsked, WorkerEntry, WorkingRun } from '../../src/cluster/store.js';
import type { PartResult } from '../../src/journal/entry-format.js';
import { sameVerdictForAll } from '../../src/kinds/outcomes.js';
import type { Workspace } from '../e2e/a-workspace.js';

const ACCEPTED = { status: 'accepted', code: '', reason: '' } as const;

/** A worker in the hands of the test: it has claimed one request of a step. */
export async function aHand(store: Store, step: number, worker = `w${Math.random()}`) {
  let run: WorkingRun | undefined;
  while (run?.step !== step) {
    await tick();
    run = await store.findRun({});
  }
  const { born } = run;
  const key = { worker, run: run.run, step };
  const { life } = await store.readServer();
  await store.beat(worker, { name: worker, leaseMs: 600_000, life });
  let [part] = (await store.claim(key, { count: 1, holding: [] })).parts;
  while (part === undefined) {
    await tick();
    [part] = (await store.claim(key, { count: 1, holding: [] })).parts;
  }
  const { request, part: path, rows, attempt: before } = part;
  let attempt = before;
  const toBegin = () =>
    ({ type: 'begin', step, request, part: path, attempt, nonce: `${attempt} of ${worker}` }) as const;
  let call = 0;
  const append = (entry: WorkerEntry) => {
    call += 1;
    return store.append(key, [entry], call);
  };
  const end = (result: PartResult, halves: EndEntry['halves'] = []) =>
    append({ type: 'end', step, request, part: path, attempt, nonce: `${attempt} of ${worker}`, result, halves });
  return {
    worker,
    run: run.run,
    epoch: run.epoch,
    rows,
    /** Its lease ends, and what it had begun is in doubt. */
    die: async () => {
      await store.leave(worker);
      await store.recover();
    },
    begin: () => {
      attempt += 1;
      return append(toBegin());
    },
    /** In a new life of the server. */
    checkIn: async () => {
      const { life } = await store.readServer();
      await store.checkIn(life, { calls: [{ worker, call }], births: [born] });
    },
    end,
    settle: () => end({ kind: 'settled', outcomes: { ...sameVerdictForAll(rows[1], ACCEPTED) } }),
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
  return { costsMs, isUrgent: true, slackMs: 0, leadMs: 0, ...quiet };
}
