import { randomBytes } from 'node:crypto';
import { InternalError } from '../domain/errors.js';
import type { IntentEntry, JournalEntry, OutcomeEntry, RequestKey } from '../journal/entry-format.js';
import { halvesOf } from '../journal/replay.js';
import type { Clock } from '../ports/clock.js';
import { ageMs, NEVER, readMoment } from '../ports/clock.js';
import { BEGUN_FOR_MS } from '../run/await-workers.js';
import type { Journal } from '../run/run-deps.js';
import type { PartSource, PartToSend } from '../run/send/request-reader.js';
import { coalesce, GroupCommit } from '../storage/group-commit.js';
import type { Held } from '../storage/lock.js';
import type {
  BeginEntry,
  ClaimedPart,
  EndEntry,
  RememberedAttempt,
  Store,
  WorkerEntry,
  WorkerKey,
  WorkingRun,
} from './store.js';

/** The store did not let an attempt begin: it must not be sent. */
export class AttemptRefused extends Error {
  override readonly name = 'AttemptRefused';
}

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
/** A standby that is promoted may lack as much. */
const REMEMBERED_MS = 600_000;
/** A result has some hundred bytes a row: without it, a row whose attempt is put back is in doubt. */
const RESULT_REMEMBERED_MS = 10_000;

interface HeldPartsDeps {
  readonly store: Store;
  readonly lease: Pick<Held, 'assertFresh'>;
  readonly clock: Clock;
  readonly sent: Pick<SentAttempts, 'remember' | 'life'>;
  /** Whether another run has parts for this worker, which has none of this one. */
  readonly isWantedElsewhere?: (() => Promise<boolean>) | undefined;
}

/**
 * The parts of one step that a worker has claimed: where its runner gets them from, what it writes of them, and what allows it to
 * send. An intent is the begin of an attempt in the store, an outcome its end. A request that waits long for its turn asks the store
 * once more whether the run is led: it may have been let go.
 */
export class HeldParts implements PartSource, Journal, Held {
  readonly #deps: HeldPartsDeps;
  readonly #key: WorkerKey;
  readonly #of: Pick<WorkingRun, 'run' | 'born'>;
  readonly #epoch: number;
  readonly #claimAtOnce: () => number;
  readonly #held = new Map<string, HeldPart>();
  readonly #ready: PartToSend[] = [];
  readonly #commit: GroupCommit<Pending>;
  #isOpen = true;
  /** Before the last call that said so was made. */
  #openAt = NEVER;

  constructor(
    { worker, run, born, epoch, step }: WorkerKey & Pick<WorkingRun, 'born' | 'epoch'>,
    deps: HeldPartsDeps,
    { claimAtOnce }: { claimAtOnce: () => number },
  ) {
    this.#key = { worker, run, step };
    this.#of = { run, born };
    this.#epoch = epoch;
    this.#deps = deps;
    this.#claimAtOnce = claimAtOnce;
    this.#commit = new GroupCommit({
      write: async (group) => {
        const { store, sent, clock } = deps;
        const askedAt = readMoment(clock);
        const askedIn = sent.life;
        const { refused, life } = await store.append(
          this.#key,
          group.map(({ entry }) => entry),
        );
        // Of a server whose place another has taken meanwhile, and this worker has checked in there without it.
        const isOver = sent.life !== askedIn && sent.life !== life;
        for (const [index, pending] of group.entries()) pending.isRefused = isOver || refused.includes(index);
        if (group.some(({ entry, isRefused }) => entry.type === 'begin' && !isRefused)) this.#openAt = askedAt;
      },
      describeFailure: (cause) => (cause instanceof Error ? cause : new Error(String(cause))),
    });
  }

  /** Claimed, and without an outcome. */
  get count(): number {
    return this.#held.size;
  }

  async next(): Promise<PartToSend | undefined> {
    if (this.#ready.length === 0 && this.#isOpen) await this.#claim(this.#claimAtOnce());
    return this.#ready.shift();
  }

  async awaitMore(): Promise<boolean> {
    const { clock, isWantedElsewhere } = this.#deps;
    await clock.sleep(POLL_MS);
    return this.#isOpen && !(this.#held.size === 0 && (await isWantedElsewhere?.()) === true);
  }

  async append(entry: JournalEntry): Promise<void> {
    if (entry.type === 'intent') await this.#begin(entry);
    else if (entry.type === 'outcome') await this.#end(entry);
    else throw new InternalError('unexpected', `A worker cannot write an entry ${entry.type}`);
  }

  readonly refresh = coalesce(async () => {
    if (ageMs(this.#deps.clock, this.#openAt) > BEGUN_FOR_MS / 2) await this.#claim(0);
  });

  async assertHeld(): Promise<void> {
    await this.refresh();
    this.assertFresh();
  }

  assertFresh(): void {
    this.#deps.lease.assertFresh();
    if (ageMs(this.#deps.clock, this.#openAt) <= BEGUN_FOR_MS) return;
    throw new AttemptRefused('the store did not say of late that the run is led: nothing is sent');
  }

  async #claim(count: number): Promise<void> {
    const askedAt = readMoment(this.#deps.clock);
    const claimed = await this.#deps.store.claim(this.#key, {
      count,
      epoch: this.#epoch,
      holding: [...this.#held.values()].map(({ step, request, part }) => ({ step, request, part })),
    });
    this.#isOpen = claimed.isOpen;
    if (claimed.isOpen) this.#openAt = askedAt;
    for (const part of claimed.parts) {
      // A half of what was split while the call was on its way: the runner has it.
      if (this.#held.has(nameOf(part))) continue;
      this.#held.set(nameOf(part), {
        ...{ step: part.step, request: part.request, part: part.part, rows: part.rows },
        ...{ attempt: part.attempt, nonce: part.nonce ?? '' },
      });
      this.#ready.push(toPartToSend(part));
    }
  }

  async #begin({ step, request, part, at }: IntentEntry): Promise<void> {
    const held = this.#find({ step, request, part });
    held.attempt += 1;
    // A million of them are remembered: those of randomUUID take 500 bytes each, in pieces.
    held.nonce = randomBytes(16).toString('hex');
    const { attempt, nonce } = held;
    const begin: BeginEntry = { type: 'begin', step, request, part, attempt, nonce };
    const pending = { entry: begin, isRefused: false };
    await this.#commit.add(pending);
    if (pending.isRefused) throw new AttemptRefused('the store refused to begin a request: it is not sent');
    this.#deps.sent.remember({ ...this.#of, begin, end: undefined, atMs: at });
  }

  async #end({ step, request, part, at, result }: OutcomeEntry): Promise<void> {
    const { attempt, nonce, ...held } = this.#find({ step, request, part });
    const halves = result.kind === 'split' ? halvesOf({ ...held, line: NO_LINE, isInFlight: false }) : [];
    const end: EndEntry = { type: 'end', step, request, part, attempt, nonce, result, halves: halves.map(toHalf) };
    for (const half of halves) this.#held.set(nameOf(half), { ...toHalf(half), step, request, attempt: 0, nonce: '' });
    await this.#commit.add({ entry: end, isRefused: false });
    // Not before: a claim that overtakes it would bring the part again.
    if (result.kind !== 'again') this.#held.delete(nameOf({ step, request, part }));
    const begin: BeginEntry = { type: 'begin', step, request, part, attempt, nonce };
    this.#deps.sent.remember({ ...this.#of, begin, end, atMs: at });
  }

  #find(key: RequestKey): HeldPart {
    const held = this.#held.get(nameOf(key));
    if (held !== undefined) return held;
    throw new InternalError('unexpected', `A worker has not claimed request ${nameOf(key)}`);
  }
}

export interface SentAttempt extends RememberedAttempt {
  readonly atMs: number;
}

/** What a worker began in the last minutes. */
export class SentAttempts {
  /** Of the server, in which all of them were last known to be there. */
  life: string | undefined;
  readonly #clock: Clock;
  readonly #sent = new Map<string, SentAttempt>();
  /** Those of them whose result is here too. */
  readonly #ended = new Map<string, SentAttempt>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly remember = (sent: SentAttempt): void => {
    // The last begun stand last.
    this.#sent.delete(sent.begin.nonce);
    this.#sent.set(sent.begin.nonce, sent);
    if (sent.end !== undefined) this.#ended.set(sent.begin.nonce, sent);
    for (const [nonce] of listOlder(this.#sent, this.#clock.now() - REMEMBERED_MS)) this.#sent.delete(nonce);
    for (const [nonce, { atMs, begin, run, born }] of listOlder(
      this.#ended,
      this.#clock.now() - RESULT_REMEMBERED_MS,
    )) {
      this.#ended.delete(nonce);
      if (this.#sent.has(nonce)) this.#sent.set(nonce, { atMs, begin, run, born, end: undefined });
    }
  };

  /** All of them: their runs are dropped. */
  forget(): void {
    this.#sent.clear();
    this.#ended.clear();
  }

  list(): readonly RememberedAttempt[] {
    return [...this.#sent.values()].map(({ atMs: _, ...attempt }) => attempt);
  }
}

function* listOlder(sent: ReadonlyMap<string, SentAttempt>, thanMs: number): Generator<[nonce: string, SentAttempt]> {
  for (const each of sent) {
    if (each[1].atMs > thanMs) return;
    yield each;
  }
}

/** A worker has no file of requests. */
const NO_LINE = [0, 0] as const;

function toPartToSend({ step, request, part, rows, head, body, isInFlight }: ClaimedPart): PartToSend {
  const open = { step, request, part, rows, line: NO_LINE, isInFlight };
  return { open, head, body, ambiguousAttempts: 0, deferrals: 0 };
}

function toHalf({ part, rows }: { part: string; rows: readonly [number, number] }) {
  return { part, rows };
}

function nameOf({ step, request, part }: RequestKey): string {
  return `${step}/${request}/${part}`;
}
