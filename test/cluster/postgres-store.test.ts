import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/cluster/postgres/database.js';
import type { AttemptKey, Store, WorkerEntry } from '../../src/cluster/store.js';
import { systemClock } from '../../src/ports/clock.js';
import { ALL } from '../one-in.js';
import { AGAIN, aBegin, anEnd, aPart, LEADER_LEASE_MS, LEASE_MS, NEW_LEAD, PART, SETTLED, SPLIT } from './a-run.js';
import { MemoryCluster } from './memory-store.js';
import { aDatabase } from './postgres-server.js';

let database: Database;
let store: Store;
beforeAll(async () => {
  const { connect, ...opened } = await aDatabase();
  database = opened.database;
  store = await connect();
});

/** A store with its server, and what its processes know: of two that do the same, both know the same. */
interface Side {
  readonly store: Store;
  passTime(ms: number): Promise<void>;
  restart(losesCommits: boolean): Promise<void>;
  /** Then each call is made twice, and answers the same. */
  isReplyLost: boolean;
  epoch: number;
  life: string;
  born: string;
  taken: readonly number[];
  readonly workers: readonly [SideWorker, SideWorker];
}

type SideWorker = { readonly id: string; calls: number; acknowledged: number; readonly held: HeldPart[] };

type HeldPart = AttemptKey & { nonce: string };

function aSide(direct: Store, time: Pick<Side, 'passTime' | 'restart'>): Side {
  const aWorker = (id: string): SideWorker => ({ id, calls: 0, acknowledged: 0, held: [] });
  const workers = [aWorker('w0'), aWorker('w1')] as const;
  const losing = new Proxy(direct, {
    get:
      (target, name: keyof Store) =>
      async (...args: never[]) => {
        const call = () => (target[name] as (...args: never[]) => Promise<unknown>)(...args);
        const first = await call();
        if (!side.isReplyLost) return first;
        const second = await call();
        expect(withoutMoments(second), `${name} again`).toEqual(withoutMoments(first));
        return second;
      },
  });
  const side: Side = { ...time, store: losing, epoch: 1, life: '', born: '', taken: [], workers, isReplyLost: false };
  return side;
}

function withoutMoments(answer: unknown): unknown {
  return answer === undefined
    ? undefined
    : JSON.parse(JSON.stringify(answer, (name, value) => (name === 'atMs' ? 0 : value)));
}

/** The clock of leases is moved instead of waited for; the table of lives is emptied as a crash empties it. */
async function onServer(): Promise<Side> {
  const passTime = async (ms: number) => {
    for (const table of ['worker', 'run'])
      await database.query(`update volley.${table} set lease_until = lease_until - $1 * interval '1 ms'`, [ms]);
  };
  const restart = async (losesCommits: boolean) => {
    await database.query('update volley.worker set calls = calls - $1::integer', [Number(losesCommits)]);
    await database.query('truncate volley.life');
  };
  await database.query('truncate volley.run, volley.request, volley.part, volley.worker');
  return aSide(store, { passTime, restart });
}

function inMemory(): Side {
  let passedMs = 0;
  const cluster = new MemoryCluster({ ...systemClock, now: () => systemClock.now() + passedMs });
  const passTime = async (ms: number) => {
    passedMs += ms;
  };
  return aSide(cluster.connect(), { passTime, restart: async (losesCommits) => cluster.restart({ losesCommits }) });
}

/** One of these, by a number. */
function of<T>(pick: number, ...values: [T, ...T[]]): T {
  return values[pick % values.length] as T;
}

type Picks = readonly [number, number, number, number];

function entryOf({ held }: SideWorker, [, which, how, result]: Picks): WorkerEntry {
  const part = held[which % Math.max(1, held.length)] ?? { ...PART, attempt: 0, nonce: '' };
  if (how < 3) return aBegin({ ...part, attempt: part.attempt + of(result, 1, 1, 1, 2) }, of(result, 'a', 'b', 'a'));
  return anEnd(of(result, AGAIN, SETTLED, SPLIT), part, how === 5 ? 'of another' : part.nonce);
}

function noteAnswers(worker: SideWorker, entries: readonly WorkerEntry[], refused: readonly number[]) {
  for (const [index, { type, step, request, part, attempt, nonce, ...entry }] of entries.entries()) {
    const held = worker.held.find((one) => one.request === request && one.part === part);
    if (refused.includes(index) || held === undefined) continue;
    Object.assign(held, { attempt, nonce });
    if (!('result' in entry) || entry.result.kind === 'again') continue;
    worker.held.splice(worker.held.indexOf(held), 1);
    for (const half of entry.halves) worker.held.push({ step, request, part: half.part, attempt: 0, nonce: '' });
  }
}

/** Each call of the store, with arguments by four numbers. What is not of the store answers nothing. */
const CALLS: Record<string, (side: Side, picks: Picks) => Promise<unknown>> = {
  lead: async (side, [epoch, leader]) => {
    const lead = { ...NEW_LEAD, leader: of(leader, 'process 1', 'process 1', 'process 2') };
    const led = await side.store.lead({ run: 'run-a', epoch: side.epoch + of(epoch, 0, 1, -1) }, lead);
    side.epoch += of(epoch, 0, 1, -1);
    side.born = led.born;
    return { ...led, parts: inOrder(led.parts) };
  },
  openStep: ({ store, epoch }, [early, onLost, step]) =>
    store.openStep(
      { run: 'run-a', epoch: epoch - of(early, 0, 0, 0, 1) },
      { step: of(step, 1, 1, 1, 1, 2), provisionedIds: ['id "1"'], onLost: of(onLost, 'in-doubt', 'again', 'query') },
    ),
  handOver: ({ store, epoch }, [request, isInFlight]) =>
    store.handOver({ run: 'run-a', epoch }, [
      aPart(of(request, 1, 2, 3), { isInFlight: of(isInFlight, false, false, true) }),
    ]),
  renewLead: async ({ store, epoch }, [early, lease, seen]) => {
    const leaseMs = of(lease, LEASE_MS / 2, LEADER_LEASE_MS, LEADER_LEASE_MS, 0);
    const seenAtMs = (await store.readServer()).atMs + of(seen, 0, 0, -LEASE_MS / 2, 1e9);
    await store.renewLead({ run: 'run-a', epoch: epoch - of(early, 0, 0, 0, 1) }, { leaseMs, seenAtMs });
  },
  readNews: async (side, [early, limit, , taken]) => {
    const news = await side.store.readNews(
      { run: 'run-a', epoch: side.epoch - of(early, 0, 0, 0, 1) },
      { limit: of(limit, 10, 10, 1, 2), taken: taken < 3 ? side.taken : [] },
    );
    side.taken = news.ended.map(({ order }) => order);
    return news;
  },
  takeBack: ({ store, epoch }, [early, request, half, more]) => {
    const parts = [of(request, 1, 2, 3), of(more, 1, 2, 3)].map((one) => ({
      ...PART,
      request: one,
      part: of(half, '', '', '', '0', '1'),
    }));
    return store.takeBack({ run: 'run-a', epoch: epoch - of(early, 0, 0, 0, 1) }, parts.slice(early % 2));
  },
  confirmLife: ({ store, epoch }) => store.confirmLife({ run: 'run-a', epoch }),
  drop: async ({ store, epoch, workers }) => {
    for (const { id } of workers) await store.recover(id);
    await store.drop({ run: 'run-a', epoch });
  },
  beat: async (side, [worker, life, whose, births]) => {
    const { workers, born } = side;
    const known = of<readonly SideWorker[]>(whose, [], [], workers, workers, workers.slice(0, 1));
    const calls = known.map(({ id, acknowledged: call }) => ({ worker: id, call }));
    const sent = calls.length === 0 ? undefined : { calls, births: of(births, [born], [born], []) };
    const about = { name: 'host', leaseMs: LEASE_MS, life: of(life, side.life, side.life, side.life, undefined), sent };
    const beat = await side.store.beat(of(worker, ...side.workers).id, about);
    side.life = beat.life;
    return beat;
  },
  findRun: ({ store }, [filter]) => store.findRun(of(filter, {}, { run: 'run-a' }, { job: 'sale' }, { job: 'other' })),
  claim: async (side, [worker, count, forgets, epoch]) => {
    const one = of(worker, ...side.workers);
    const holding = forgets < 4 ? one.held.map(({ step, request, part }) => ({ step, request, part })) : [];
    const key = { worker: one.id, run: 'run-a', step: 1, epoch: of(epoch, side.epoch, side.epoch, 1) };
    const claimed = await side.store.claim(key, { count: of(count, 1, 2, 3, 0), holding });
    const isNew = ({ request, part }: HeldPart) => !one.held.some((h) => h.request === request && h.part === part);
    const parts = claimed.parts.map(({ request, part, attempt, nonce = '' }) => ({
      ...PART,
      request,
      part,
      attempt,
      nonce,
    }));
    one.held.push(...parts.filter(isNew));
    return claimed;
  },
  append: async (side, picks) => {
    const worker = of(picks[0], ...side.workers);
    const [first, second] = [entryOf(worker, picks), entryOf(worker, [picks[0], picks[3], picks[1], picks[2]])];
    const entries = picks[1] < 5 ? [first] : [first, second];
    worker.calls += 1;
    const answer = await side.store.append(
      { worker: worker.id, run: 'run-a', step: 1, epoch: side.epoch },
      entries,
      worker.calls,
    );
    if (answer.life !== '') worker.acknowledged = worker.calls;
    noteAnswers(worker, entries, answer.refused);
    return answer;
  },
  recover: ({ store, workers }, [leaving]) =>
    store.recover(of<SideWorker | undefined>(leaving, undefined, ...workers)?.id),
  askToStop: ({ store, epoch }, [early, detail]) =>
    store.askToStop(
      { run: 'run-a', epoch: epoch - of(early, 0, 1) },
      { reason: 'guard', detail: of(detail, 'one\u0000', 'other') },
    ),
  passTime: ({ passTime }, [ms]) => passTime(of(ms, LEASE_MS / 2, LEASE_MS, -3_600_000)),
  restart: async ({ restart, store }, [losesCommits]) => {
    await restart(losesCommits === 0);
    await store.readServer();
  },
};

function inOrder<T extends { request: number; part: string }>(parts: readonly T[]): T[] {
  return parts.toSorted((one, other) => one.request - other.request || (one.part < other.part ? -1 : 1));
}

const RANDOM = /^(born|life|nonce)$/;
const MOMENTS = /^(at|atMs|order)$/;

/** What a call answers, or how it fails; random texts by the order in which they come. */
async function answerOf(call: Promise<unknown>, seen: string[]): Promise<unknown> {
  const answer = await call.catch((error: Error) => ({ error: error.name }));
  const text = JSON.stringify(answer, (name, value) => {
    if (MOMENTS.test(name)) return undefined;
    if (!RANDOM.test(name) || typeof value !== 'string' || value.length < 6) return value;
    if (!seen.includes(value)) seen.push(value);
    return `${name} ${seen.indexOf(value)}`;
  });
  return text === undefined ? undefined : JSON.parse(text);
}

/** People's texts that no one needs any more, results that the leader has, and what belongs to no run. */
const LEFTOVERS = `
  select q.* from volley.request q where not exists (select from volley.part p
    where (p.run, p.step, p.request) = (q.run, q.step, q.request) and (p.state <> 'done' or p.ended is not null))
  union all select run, step, request, null, null, null from volley.part
    where (ended is null and result is not null) or run not in (select id from volley.run)`;

const OFTEN = [
  'claim',
  'claim',
  'append',
  'append',
  'append',
  'append',
  'append',
  'append',
  'readNews',
  'readNews',
  'readNews',
  'renewLead',
  'beat',
];
const step = fc.record({
  call: fc.constantFrom(...Object.keys(CALLS), ...OFTEN),
  picks: fc.tuple(fc.nat(5), fc.nat(5), fc.nat(5), fc.nat(5)),
  isReplyLost: fc.boolean(),
});

/** What any history begins with, so that most of it is about something: both workers have checked in, the one too late for its first claim, and claimed. */
const BEGIN: readonly [string, Picks][] = [
  ...(['lead', 'openStep', 'renewLead'] as const).map((call) => [call, [0, 1, 0, 0]] as [string, Picks]),
  ...[0, 1, 2].map((request) => ['handOver', [request, 0, 0, 0]] as [string, Picks]),
  ...[0, 1].map((worker) => ['beat', [worker, 0, 0, 0]] as [string, Picks]),
  ['claim', [0, 0, 0, 0]],
  ['beat', [0, 0, 2, 0]],
  ...[0, 1].map((worker) => ['claim', [worker, 0, 0, 0]] as [string, Picks]),
];

/** One request is split, and one settled. */
const ENDED: readonly [string, Picks][] = [
  ['append', [0, 0, 0, 0]],
  ['append', [0, 0, 3, 2]],
  ['append', [1, 0, 0, 0]],
  ['append', [1, 0, 3, 1]],
];

test('PostgreSQL does what the store in memory does, in any history, also where a call is repeated', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom([], ENDED),
      fc.array(step, { maxLength: 40, size: 'max' }),
      async (ended, steps) => {
        const sides = [inMemory(), await onServer()];
        const seen: string[][] = [[], []];
        const doBoth = async (call: string, picks: Picks, isReplyLost = false) => {
          for (const side of sides) side.isReplyLost = isReplyLost;
          const [expected, found] = await Promise.all(
            sides.map((side, at) => answerOf(CALLS[call]!(side, picks), seen[at]!)),
          );
          expect(found, `${call} ${picks}`).toEqual(expected);
        };
        for (const [call, picks] of [...BEGIN, ...ended]) await doBoth(call, picks);
        for (const { call, picks, isReplyLost } of steps) await doBoth(call, picks, isReplyLost);
        for (const call of ['readNews', 'readNews', 'lead']) await doBoth(call, [1, 1, 0, 0]);
        expect(await database.query(LEFTOVERS)).toEqual([]);
      },
    ),
    { numRuns: ALL ? 150 : 50 },
  );
});
