import type {
  AttemptKey,
  HandedPart,
  LeadKey,
  OpenStep,
  RunNews,
  SentCalls,
  Store,
  WorkerEntry,
  WorkerKey,
} from '../../src/cluster/store.js';
import type { PartResult } from '../../src/journal/entry-format.js';

export interface Server {
  connect(): Promise<Store>;
}

export const LEASE_MS = 600_000;
/** So long that only tests of it see its end. */
export const LEADER_LEASE_MS = 100 * LEASE_MS;
const A_STEP = { step: 1, provisionedIds: [], onLost: 'in-doubt' } as const;

export const PART = { step: 1, request: 1, part: '' } as const;
export const AGAIN: PartResult = { kind: 'again', why: 'refused for its rate' };
export const SPLIT: PartResult = { kind: 'split', why: 'one row is wrong' };
export const SETTLED: PartResult = {
  kind: 'settled',
  outcomes: {
    verdicts: [
      { status: 'accepted', code: '', reason: '' },
      { status: 'rejected', code: '1002', reason: 'bad\u0000 "number" \\ ☎️ \ud800' },
    ],
    rows: [[0, 'umid-1'], [1]],
    shared: ['batch'],
  },
} as PartResult;

export function aPart(request: number, over: Partial<HandedPart> = {}): HandedPart {
  const head = { request, first: request * 2, rows: 2, messages: 2, segments: 3 };
  const body = Buffer.from(`{"request":${request},"text":"é"}`);
  return { ...PART, request, rows: [request * 2, 2], head, body, isInFlight: false, ...over };
}

/** A run whose step 1 is open, with parts of two rows each. */
export async function aRun(cluster: Server, { parts = [aPart(1)] } = {}) {
  const store = await cluster.connect();
  const lead = { run: 'run-a', epoch: 1 };
  await store.lead(lead, { ...NEW_LEAD, job: 'job of run-a' });
  await openStep(store, lead, { provisionedIds: ['id "1"', ''], onLost: 'in-doubt' });
  await store.handOver(lead, parts);
  return { store, lead };
}

export const NEW_LEAD = { job: 'sale', digest: 'of its file', leader: 'process 1' };

/** Opens a step as a leader does that is well. */
export async function openStep(
  store: Store,
  lead: LeadKey,
  { leaseMs = LEADER_LEASE_MS, ...step }: Partial<OpenStep & { leaseMs: number }> = {},
): Promise<void> {
  await store.openStep(lead, { ...A_STEP, ...step });
  await renewLead(store, lead, leaseMs);
}

export async function readLife(store: Store): Promise<string> {
  return (await store.readServer()).life;
}

export async function renewLead(store: Store, lead: LeadKey, leaseMs = LEADER_LEASE_MS): Promise<void> {
  const { atMs: seenAtMs } = await store.readServer();
  await store.renewLead(lead, { leaseMs, seenAtMs });
}

export function readNews(store: Store, lead: LeadKey, limit = 10): Promise<RunNews> {
  return store.readNews(lead, { limit });
}

/** What a leader says once its journal has what ended, or so much of it. */
export async function noteTaken(store: Store, lead: LeadKey): Promise<void> {
  const { ended } = await readNews(store, lead, 10);
  await store.readNews(lead, { limit: 1, taken: ended.map(({ order }) => order) });
}

/** A worker with a connection of its own. */
export async function aWorker(cluster: Server, worker: string, run = 'run-a', epoch = 1) {
  const store = await cluster.connect();
  const beat = async (sent?: SentCalls) =>
    store.beat(worker, { name: `host of ${worker}`, leaseMs: LEASE_MS, life: await readLife(store), sent });
  await beat();
  const key: WorkerKey = { worker, run, step: 1, epoch };
  let call = 0;
  const append = (...entries: WorkerEntry[]) => {
    call += 1;
    return store.append(key, entries, call);
  };
  return {
    ...{ store, key, append },
    claim: async (count: number) => (await store.claim(key, { count, holding: [] })).parts,
    begin: (attempt: Partial<AttemptKey> = {}, nonce = `of ${worker}`) => append(aBegin(attempt, nonce)),
    end: (result: PartResult, attempt: Partial<AttemptKey> = {}, nonce = `of ${worker}`) =>
      append(anEnd(result, attempt, nonce)),
    /** `births`: of the runs that it worked on. */
    checkIn: (...births: string[]) => beat({ calls: [{ worker, call }], births }),
  };
}

export function aBegin(attempt: Partial<AttemptKey> = {}, nonce = 'nonce') {
  return { type: 'begin', ...PART, attempt: 1, ...attempt, nonce } as const;
}

export function anEnd(result: PartResult, attempt: Partial<AttemptKey> = {}, nonce = 'nonce') {
  const { request, part } = { ...PART, ...attempt };
  const first = request * 2;
  const halves =
    result.kind === 'split'
      ? ([
          { part: `${part}0`, rows: [first, 1] },
          { part: `${part}1`, rows: [first + 1, 1] },
        ] as const)
      : [];
  return { type: 'end', ...PART, attempt: 1, ...attempt, nonce, result, halves } as const;
}
