import { randomBytes } from 'node:crypto';
import { InternalError } from '../domain/errors.js';
import type { IntentEntry, JournalEntry, OutcomeEntry, RequestKey } from '../journal/entry-format.js';
import { addEnded, halvesOf, noRows } from '../journal/replay.js';
import type { Clock } from '../ports/clock.js';
import { ageMs, NEVER, readMoment } from '../ports/clock.js';
import type { Journal } from '../run/run-deps.js';
import { BEGUN_FOR_MS } from '../run/run-times.js';
import type { PartSource, PartToSend } from '../run/send/request-reader.js';
import { coalesce, GroupCommit } from '../storage/group-commit.js';
import type { Held } from '../storage/lock.js';
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
export class HeldParts implements PartSource, Journal, Held {
  readonly #lease: Pick<Lease, 'worker' | 'calls' | 'assertFresh'>;
  readonly #clock: Clock;
  readonly #key: WorkerKey;
  readonly #claimAtOnce: () => number;
  /** The rows that it has settled, by status: for the process that watches the worker. */
  readonly settledRows = noRows();
  readonly #held = new Map<string, HeldPart>();
  readonly #ready: PartToSend[] = [];
  readonly #commit: GroupCommit<Pending>;
  #isOpen = true;
  /** Right before the last call was made that said that the step is open. */
  #openAt = NEVER;

  constructor(
    { run, step, born, epoch }: Pick<WorkingRun, 'run' | 'step' | 'born' | 'epoch'>,
    lease: Pick<Lease, 'worker' | 'calls' | 'assertFresh'>,
    claimAtOnce: () => number,
  ) {
    this.#lease = lease;
    this.#clock = lease.calls.clock;
    this.#key = { worker: lease.worker, run, step, epoch };
    this.#claimAtOnce = claimAtOnce;
    this.#commit = new GroupCommit({
      write: async (group) => {
        const askedAt = readMoment(this.#clock);
        const entries = group.map(({ entry }) => entry);
        const refused = await lease.calls.append(this.#key, born, entries);
        for (const [index, pending] of group.entries()) pending.isRefused = refused.includes(index);
        if (group.some(({ entry, isRefused }) => entry.type === 'begin' && !isRefused)) this.#openAt = askedAt;
      },
      describeFailure: (cause) => (cause instanceof Error ? cause : new Error(String(cause))),
    });
  }

  async next(): Promise<PartToSend | undefined> {
    if (this.#ready.length === 0 && this.#isOpen) await this.#claim(this.#claimAtOnce());
    return this.#ready.shift();
  }

  async awaitMore(): Promise<boolean> {
    await this.#clock.sleep(POLL_MS);
    return this.#isOpen;
  }

  async append(entry: JournalEntry): Promise<void> {
    if (entry.type === 'intent') await this.#begin(entry);
    else if (entry.type === 'outcome') await this.#end(entry);
    else throw new InternalError('unexpected', `A worker cannot write an entry ${entry.type}`);
  }

  readonly refresh = coalesce(async () => {
    if (ageMs(this.#clock, this.#openAt) > BEGUN_FOR_MS / 2) await this.#claim(0);
  });

  async assertHeld(): Promise<void> {
    await this.refresh();
    this.assertFresh();
  }

  assertFresh(): void {
    this.#lease.assertFresh();
    if (ageMs(this.#clock, this.#openAt) <= BEGUN_FOR_MS) return;
    throw new LeaseLost('the store did not say of late that the run is led: nothing is sent');
  }

  async #claim(count: number): Promise<void> {
    const askedAt = readMoment(this.#clock);
    const claimed = await this.#lease.calls.store.claim(this.#key, {
      count,
      holding: [...this.#held.values()].map(({ step, request, part }) => ({ step, request, part })),
    });
    this.#isOpen = claimed.isOpen;
    if (claimed.isOpen) this.#openAt = askedAt;
    for (const part of claimed.parts) {
      // A half of what was split while the call was on its way: the runner has it.
      if (this.#held.has(nameOfPart(part))) continue;
      const { body: _, head: __, nonce = '', ...held } = part;
      this.#held.set(nameOfPart(part), { ...held, nonce });
      this.#ready.push(toPartToSend(part));
    }
  }

  async #begin({ step, request, part }: IntentEntry): Promise<void> {
    const held = this.#find({ step, request, part });
    held.attempt += 1;
    held.nonce = randomBytes(16).toString('hex');
    const { attempt, nonce } = held;
    const begin: BeginEntry = { type: 'begin', step, request, part, attempt, nonce };
    const pending = { entry: begin, isRefused: false };
    await this.#commit.add(pending);
    if (pending.isRefused) throw new LeaseLost('the store refused to begin a request: it is not sent');
  }

  async #end({ step, request, part, result }: OutcomeEntry): Promise<void> {
    const { attempt, nonce, ...held } = this.#find({ step, request, part });
    const halves = result.kind === 'split' ? halvesOf({ ...held, line: NO_LINE, isInFlight: false }) : [];
    const end: EndEntry = { type: 'end', step, request, part, attempt, nonce, result, halves };
    for (const half of halves) this.#held.set(nameOfPart(half), { ...half, attempt: 0, nonce: '' });
    await this.#commit.add({ entry: end, isRefused: false });
    addEnded(this.settledRows, result, held);
    // Not before: a claim that overtakes it would bring the part again.
    if (result.kind !== 'again') this.#held.delete(nameOfPart({ step, request, part }));
  }

  #find(key: RequestKey): HeldPart {
    const held = this.#held.get(nameOfPart(key));
    if (held !== undefined) return held;
    throw new InternalError('unexpected', `A worker has not claimed request ${nameOfPart(key)}`);
  }
}

/** A worker has no file of requests. */
const NO_LINE = [0, 0] as const;

function toPartToSend({ step, request, part, rows, head, body, isInFlight }: ClaimedPart): PartToSend {
  const open = { step, request, part, rows, line: NO_LINE, isInFlight };
  return { open, head, body, ambiguousAttempts: 0, deferrals: 0 };
}
