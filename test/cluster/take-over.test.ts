import { expect, test } from 'vitest';
import { takeOver } from '../../src/cluster/lead-run.js';
import { loadJob } from '../../src/job/load.js';
import { decodeLine, type JournalEntry } from '../../src/journal/entry-format.js';
import { RunState } from '../../src/journal/replay.js';
import { systemClock } from '../../src/ports/clock.js';
import { aJob, anSmsStep } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { aClusterInMemory, aJobOf, CLUSTER } from './a-cluster.js';
import { aHand, tick } from './a-hand.js';
import { AGAIN, aPart, aRun, aWorker, NEW_LEAD, noteTaken, PART, SETTLED, SPLIT } from './a-run.js';
import { MemoryCluster } from './memory-store.js';

const AT = 1_800_000_000_000;
const INTENT = { type: 'intent', ...PART, at: AT, line: [0, 100], rows: [2, 2] } as const;

test('a journal that lacks what the database knows is refused: it was put back from a backup', async () => {
  const { worker, resume, take } = await aLedRequest();
  await worker.end(SETTLED);
  await expect(resume([])).rejects.toThrow('its journal lacks what the database knows of 1 request');
  expect((await resume([INTENT])).step(1).open.get('1/')).toMatchObject({ isInFlight: true });
  await take();
  const message = 'Cannot resume run run-a: its journal lacks what the database knows of 1 request';
  await expect(resume([INTENT])).rejects.toMatchObject({ message, hint: expect.stringContaining('Do not drop it') });
});

/** Else a run that is dropped from the database, or resumed without it, sends again what a worker has sent. */
test('a journal that is cut anywhere has in flight what a worker may have sent: after an attempt to be repeated, and after a split', async () => {
  const workspace = await aJobOf(2, { cluster: { ...CLUSTER, sendHere: false }, steps: [anSmsStep()] });
  const { cluster, lead } = aClusterInMemory(workspace);
  const store = cluster.connect();
  const leading = lead();
  const hand = await aHand(store);
  const untilTaken = async () => {
    while ((await store.readNews(hand.run, { limit: 1 })).ended.length > 0) await tick();
  };
  await hand.begin();
  await hand.end(AGAIN);
  await untilTaken();
  await hand.begin();
  await hand.end(SPLIT);
  await untilTaken();

  const text = workspace.read(`out/sale/${workspace.runs()[0]}/journal.ndjson`);
  const entries = text.split('\n').flatMap((line) => decodeLine(Buffer.from(line))?.entry ?? []);
  const state = new RunState();
  const seen = new Set<string>();
  for (const entry of entries) {
    state.apply(entry);
    const parts = [...state.step(1).open.values()];
    expect(parts.filter(({ isInFlight }) => !isInFlight)).toEqual([]);
    for (const { part } of parts) seen.add(part);
  }
  expect([...seen]).toEqual(['', '0', '1']);
  leading.stop();
  await hand.die();
  expect(await leading.ended).toBe(75);
});

/** One that a worker has begun. `resume`: by a leader with this journal. */
async function aLedRequest() {
  const workspace = await aWorkspace();
  workspace.writeJob(aJob(workspace));
  const { steps } = await loadJob(workspace.path('job.yaml'));
  const memory = new MemoryCluster(systemClock);
  const cluster = { connect: async () => memory.connect() };
  const { store, lead } = await aRun(cluster, { parts: [aPart(1)] });
  const worker = await aWorker(cluster, 'w');
  await worker.claim(1);
  await worker.begin();
  let { epoch } = lead;
  return {
    worker,
    take: async () => noteTaken(store, { ...lead, epoch }),
    resume: async (entries: readonly JournalEntry[]) => {
      const state = new RunState();
      epoch += 1;
      const led = await store.lead({ ...lead, epoch }, NEW_LEAD);
      const opened = { type: 'open', version: 1, plan: lead.run, at: AT, host: 'h', pid: 1, leaseMs: 30_000 } as const;
      for (const entry of [{ ...opened, lead: led.born }, ...entries]) state.apply(entry);
      const journal = { append: async (entry: JournalEntry) => state.apply(entry) };
      const deps = { store, journal, clock: systemClock, stop: new AbortController().signal };
      expect(await takeOver({ ...lead, epoch }, { ...deps, led, state, steps })).toBe(true);
      return state;
    },
  };
}
