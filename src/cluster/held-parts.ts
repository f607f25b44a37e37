import { randomBytes } from 'node:crypto';
import { InternalError } from '../domain/errors.js';
import type { IntentEntry, JournalEntry, OutcomeEntry, RequestKey } from '../journal/entry-format.js';
import { addEnded, halvesOf, noRows } from '../journal/replay.js';
import { ageMs, NEVER, readMoment } from '../ports/clock.js';
import { BEGUN_FOR_MS } from '../run/run-times.js';
import type { PartToSend } from '../run/send/request-reader.js';
import { coalesce, GroupCommit } from '../storage/group-commit.js';
import { type Lease, LeaseLost } from './lease.js';
import {
  type BeginEntry,
  type ClaimedPart,
  type EndEntry,
  nameOfPart,
  type WorkerEntry,
  type WorkerKey,
  type WorkingRun,
} from './store.js';

interface HeldPart extends RequestKey {
  readonly rows: readonly [first: number, count: number];
  attempt: number;
  nonce: string;
}

interface Pending {
  readonly entry: WorkerEntry;
  isRefused: boolean;
}

const POLL_MS = 200;

/**
 * The parts of one step that a worker has claimed: where its runner gets them from, what it writes of them, and what allows it to
 * send. An intent is the begin of an attempt in the store, an outcome its end. A request that waits long for its turn asks the store
 * once more whether the run is led: it may have been let go.
 */
export function holdParts(
  { run, step, born, epoch }: Pick<WorkingRun, 'run' | 'step' | 'born' | 'epoch'>,
  lease: Pick<Lease, 'worker' | 'calls' | 'assertFresh'>,
  claimAtOnce: () => number,
) {
  const { calls } = lease;
  const { clock } = calls;
  const key: WorkerKey = { worker: lease.worker, run, step, epoch };
  /** The rows that it has settled, by status: for the process that watches the worker. */
  const settledRows = noRows();
  const held = new Map<string, HeldPart>();
  const ready: PartToSend[] = [];
  let isOpen = true;
  /** Right before the last call was made that said that the step is open. */
  let openAt = NEVER;
  const commit = new GroupCommit<Pending>({
    write: async (group) => {
      const askedAt = readMoment(clock);
      const entries = group.map(({ entry }) => entry);
      const refused = await calls.append(key, born, entries);
      for (const [index, pending] of group.entries()) pending.isRefused = refused.includes(index);
      if (group.some(({ entry, isRefused }) => entry.type === 'begin' && !isRefused)) openAt = askedAt;
    },
    describeFailure: (cause) => (cause instanceof Error ? cause : new Error(String(cause))),
  });

  const find = (key: RequestKey): HeldPart => {
    const found = held.get(nameOfPart(key));
    if (found !== undefined) return found;
    throw new InternalError('unexpected', `A worker has not claimed request ${nameOfPart(key)}`);
  };
  const claim = async (count: number) => {
    const askedAt = readMoment(clock);
    const claimed = await calls.store.claim(key, {
      count,
      holding: [...held.values()].map(({ step, request, part }) => ({ step, request, part })),
    });
    isOpen = claimed.isOpen;
    if (isOpen) openAt = askedAt;
    for (const part of claimed.parts) {
      // A half of what was split while the call was on its way: the runner has it.
      if (held.has(nameOfPart(part))) continue;
      const { body: _, head: __, nonce = '', ...own } = part;
      held.set(nameOfPart(part), { ...own, nonce });
      ready.push(toPartToSend(part));
    }
  };
  const begin = async ({ step, request, part }: IntentEntry) => {
    const own = find({ step, request, part });
    own.attempt += 1;
    own.nonce = randomBytes(16).toString('hex');
    const { attempt, nonce } = own;
    const entry: BeginEntry = { type: 'begin', step, request, part, attempt, nonce };
    const pending = { entry, isRefused: false };
    await commit.add(pending);
    if (pending.isRefused) throw new LeaseLost('the store refused to begin a request: it is not sent');
  };
  const end = async ({ step, request, part, result }: OutcomeEntry) => {
    const { attempt, nonce, ...own } = find({ step, request, part });
    const halves = result.kind === 'split' ? halvesOf({ ...own, line: NO_LINE, isInFlight: false }) : [];
    const entry: EndEntry = { type: 'end', step, request, part, attempt, nonce, result, halves };
    for (const half of halves) held.set(nameOfPart(half), { ...half, attempt: 0, nonce: '' });
    await commit.add({ entry, isRefused: false });
    addEnded(settledRows, result, own);
    // Not before: a claim that overtakes it would bring the part again.
    if (result.kind !== 'again') held.delete(nameOfPart({ step, request, part }));
  };
  const assertFresh = () => {
    lease.assertFresh();
    if (ageMs(clock, openAt) <= BEGUN_FOR_MS) return;
    throw new LeaseLost('the store did not say of late that the run is led: nothing is sent');
  };
  const refresh = coalesce(async () => {
    if (ageMs(clock, openAt) > BEGUN_FOR_MS / 2) await claim(0);
  });
  return {
    settledRows,
    next: async (): Promise<PartToSend | undefined> => {
      if (ready.length === 0 && isOpen) await claim(claimAtOnce());
      return ready.shift();
    },
    awaitMore: async () => {
      await clock.sleep(POLL_MS);
      return isOpen;
    },
    append: async (entry: JournalEntry): Promise<void> => {
      if (entry.type === 'intent') await begin(entry);
      else if (entry.type === 'outcome') await end(entry);
      else throw new InternalError('unexpected', `A worker cannot write an entry ${entry.type}`);
    },
    refresh,
    assertHeld: async () => {
      await refresh();
      assertFresh();
    },
    assertFresh,
  };
}

/** A worker has no file of requests. */
const NO_LINE = [0, 0] as const;

function toPartToSend({ step, request, part, rows, head, body, isInFlight }: ClaimedPart): PartToSend {
  const open = { step, request, part, rows, line: NO_LINE, isInFlight };
  return { open, head, body, ambiguousAttempts: 0, deferrals: 0 };
}
