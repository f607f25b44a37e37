import { closing } from '../domain/closing.js';
import type { JournalEntry, RequestKey } from '../journal/entry-format.js';
import { halvesOf, keyOf, type OpenRequest } from '../journal/replay.js';
import { StepNotices } from '../run/run-events.js';
import { provisionStep } from '../run/send/provision-step.js';
import { costOf, RequestReader } from '../run/send/request-reader.js';
import type { StepContext } from '../run/send/send-context.js';
import { StepTally } from '../run/step-runner.js';
import type { StopReason } from '../run/stop.js';
import { Rate } from '../throttle/rate.js';
import { assertNothingLost, LOST_ATTEMPTS, refuseRun, toRequestKey } from './lead-run.js';
import { ServiceJudge, WithheldParts } from './leader-watch.js';
import type { EndedAttempt, HandedPart, LeadKey, NewLead, OnLost, RunNews, ServerMoment, Store } from './store.js';

/** What ended is looked at each time that the limit sends so many requests, within these. */
const POLL = { requests: 10, leastMs: 150, mostMs: 500 };
/** The pause while workers may run out of requests. */
const SOON_MS = 30;
const NEWS_AT_ONCE = 500;
/** The most for one call, so that none takes long: requests, and bytes of their bodies. */
const HANDED_AT_ONCE = { parts: 100, bytes: 8_000_000 };
/** The most requests ahead, however fast the limit is: each has its body in the database, and is in doubt if that is lost. */
const MOST_AHEAD = 5_000;
/** The fewest requests ahead, however slow the limit is. */
const LEAST_AHEAD = 2;

/** How a run is led. */
interface Lead {
  readonly store: Store;
  readonly key: LeadKey;
  readonly newLead: NewLead;
  /** Workers continue without the leader for so long: what the limit sends in that time is handed over ahead. */
  readonly leaseMs: number;
  /** The store has what was in flight when this process took over; false: it knows nothing of it. */
  readonly isKnown: boolean;
}

/**
 * Hands the requests of a step over to the store, and takes what workers make of them into the journal.
 *
 *   intent in the journal → request in the store → … a worker sends it … → outcome in the journal → taken
 *
 * So whatever the store may have sent has an intent in the journal, which is the record of the run; if the store were lost, what
 * it had been given would be in doubt, and nothing else. Attempts of a request are the store's alone: to the journal it is in
 * flight until it has an outcome for its rows, or is split.
 */
export async function leadStep(context: StepContext, lead: Lead): Promise<void> {
  const { deps, directory, kind, planned, progress, step } = context;
  const provisionedIds = await provisionStep(context);
  if (provisionedIds === undefined) return;
  await using reader = closing(await RequestReader.open(deps.files, directory, planned, progress));
  const onLost: OnLost = kind.isRepeatable(step) ? 'again' : kind.outcomeQuery === undefined ? 'in-doubt' : 'query';
  const { store, key } = lead;
  const open = () => store.openStep(key, { step: planned.number, provisionedIds, onLost });
  // Commits are lost from the end: a life of the server that knows this leader has what was handed over before.
  const seen = await store.readServer();
  const leader = new StepLeader(context, lead, { reader, open, seen });
  await leader.handOverInFlight();
  await leader.recall();
  await open();
  await leader.run();
}

class StepLeader {
  readonly #context: StepContext;
  readonly #store: Store;
  readonly #key: LeadKey;
  readonly #lead: Lead;
  readonly #open: () => Promise<void>;
  readonly #reader: RequestReader;
  readonly #rate: Rate;
  /** What the last request that was handed over costs at the limit. */
  #costMs = 0;
  /** Requests that were handed over and have no final outcome, or that are known to be in the store. */
  readonly #handed = new Map<string, OpenRequest>();
  /** The life of the server when it was last known to have all that it was given. */
  #life: string;
  /** The life of the server in which all that was handed over was found; workers may know more. */
  #comparedLife: string;
  /** Whether in `#life` a standby had every commit. */
  #sawSynchronous: boolean;
  /** Requests that an earlier process began, and that the store does not have. */
  #waiting: OpenRequest[];
  readonly #rows: StepTally;
  readonly #withheld: WithheldParts;
  readonly #judge: ServiceJudge;
  /** Ends that the journal has; the store does not know that yet. */
  #taken: readonly number[] = [];

  constructor(
    context: StepContext,
    lead: Lead,
    { reader, open: openStep, seen }: { reader: RequestReader; open: () => Promise<void>; seen: ServerMoment },
  ) {
    this.#context = context;
    this.#lead = lead;
    this.#open = openStep;
    this.#store = lead.store;
    this.#key = lead.key;
    this.#life = seen.life;
    this.#comparedLife = seen.life;
    this.#sawSynchronous = seen.isSynchronous;
    this.#reader = reader;
    this.#rate = new Rate(context.step.limits);
    this.#rows = new StepTally(context, new StepNotices(context.deps, context.planned));
    this.#withheld = new WithheldParts(context, reader);
    const giveUpAfterMs = context.service.giveUpAfterSeconds * 1000 + lead.leaseMs;
    this.#judge = new ServiceJudge({ ...context.deps, ...context.step.limits, giveUpAfterMs });
    const open = [...context.progress.open.values()];
    const isHanded = (part: OpenRequest) => lead.isKnown && part.isInFlight;
    for (const part of open) if (isHanded(part)) this.#handed.set(keyOf(part), part);
    this.#waiting = open.filter((part) => !isHanded(part));
  }

  /** What may not be sent any more, and no worker has begun, waits again: a leader may have died long ago, and lists grow. */
  async recall(): Promise<void> {
    const found = await this.#withheld.findAmong(this.#handed.values());
    if (found.length > 0) await this.#takeBack(found, 'it is looked at again before it is sent');
  }

  /** What no worker has begun waits again. Returns what stays in flight: an earlier process may have sent it. */
  async #takeBack(parts: readonly OpenRequest[], why: string): Promise<readonly RequestKey[]> {
    const { deps, journal, lock } = this.#context;
    await lock.assertHeld();
    const back = await this.#store.takeBack(this.#key, parts.map(toRequestKey));
    const result = { kind: 'again', why } as const;
    const unsent = back.flatMap((part) => (part.isInFlight ? [] : (this.#find(part) ?? [])));
    for (const part of unsent) {
      this.#handed.delete(keyOf(part));
      this.#waiting.push({ ...part, isInFlight: false });
    }
    const at = deps.clock.now();
    await Promise.all(unsent.map((part) => journal.append({ type: 'outcome', ...toRequestKey(part), at, result })));
    return back.filter((part) => part.isInFlight);
  }

  /** Runs before the step is open: after that, what was in flight and is not in the store counts as never sent. */
  async handOverInFlight(): Promise<void> {
    const inFlight = this.#waiting.filter((part) => part.isInFlight);
    if (inFlight.length === 0) return;
    await this.#context.lock.assertHeld();
    const parts: HandedPart[] = [];
    for (const open of inFlight) {
      const { head, body } = await this.#reader.readAgain(open);
      parts.push({ ...toRequestKey(open), rows: open.rows, head, body, isInFlight: true });
      this.#handed.set(keyOf(open), open);
      if (isCallFull(parts) || open === inFlight.at(-1)) await this.#store.handOver(this.#key, parts.splice(0));
    }
    this.#waiting = this.#waiting.filter((part) => !part.isInFlight);
  }

  async run(): Promise<void> {
    const { stop, deps } = this.#context;
    this.#rows.report();
    for (;;) {
      const news = await this.#takeNews();
      this.#stopWhere(news);
      if (stop.isRequested) break;
      // A call of this process that was long on its way has closed it, or opened another.
      if (news.openStep !== this.#context.planned.number) await this.#open();
      if (this.#life === news.life) await this.recall();
      const handed = await this.#handOver();
      if (handed === 'all' && this.#handed.size === 0) return;
      if (news.ended.length < NEWS_AT_ONCE)
        await deps.clock.sleep(handed === 'some' ? SOON_MS : this.#pollMs, stop.nothingNew);
    }
    await this.#end();
    if (this.#withheld.failure !== undefined) throw this.#withheld.failure;
  }

  /** Sooner towards the end of the step. */
  get #pollMs(): number {
    const requests = Math.min(POLL.requests, this.#handed.size / 2);
    return Math.min(POLL.mostMs, Math.max(POLL.leastMs, requests * this.#costMs));
  }

  #stopWhere(news: RunNews): void {
    const away = this.#judge.explainAbsence(news, this.#handed.size > 0);
    if (news.stop !== undefined)
      this.#context.stop.request(news.stop.reason as StopReason, news.stop.detail, news.stop.fault);
    if (away !== undefined) this.#context.stop.request('unavailable', away);
  }

  /** Waits for what is under way, and takes back what is not; what is still open then stays with the store, for the next run. */
  async #end(): Promise<void> {
    const { stop, deps } = this.#context;
    const { reason = 'interrupted', detail = '' } = stop.reason ?? {};
    await this.#store.askToStop(this.#key, { reason, detail });
    for (;;) {
      const inFlight = await this.#takeBack([...this.#handed.values()], 'the run stopped before it was sent');
      // The next run asks the service.
      for (const part of inFlight) this.#handed.delete(keyOf(part));
      if (stop.nothingMore.aborted) return;
      const news = await this.#takeNews();
      if (this.#handed.size === 0) return;
      if (news.ended.length === 0) await deps.clock.sleep(this.#pollMs, stop.nothingMore);
    }
  }

  async #takeNews(): Promise<RunNews> {
    await this.#context.lock.assertHeld();
    const news = await this.#store.readNews(this.#key, { limit: NEWS_AT_ONCE, taken: this.#taken });
    this.#taken = [];
    await this.#confirmLife(news);
    if (news.ended.length === 0) return news;
    await this.#context.lock.assertHeld();
    // In their order: one may be of the half of a request whose split came right before. Together: they stand in one write.
    const entries = news.ended.flatMap((ended) => this.#toEntries(ended));
    await Promise.all(entries.map((entry) => this.#context.journal.append(entry)));
    // Said with the next call, behind its look at the lock: of a process that lost it meanwhile they do not count.
    this.#taken = news.ended.map(({ order }) => order);
    this.#rows.report();
    this.#rows.guard();
    for (const ended of news.ended) this.#judge.note(ended);
    return news;
  }

  /**
   * What ended before the last news was lost is taken first: then only what is not taken is left to compare. A life is confirmed
   * after that: if this process refuses it, or dies, the next one compares as well.
   */
  async #confirmLife(news: RunNews): Promise<void> {
    const isNewLife = this.#life !== news.life;
    if (!isNewLife) this.#sawSynchronous = news.isSynchronous;
    if (!isNewLife && news.isConfirmed) return;
    if (isNewLife && this.#comparedLife !== news.life) {
      if (news.ended.length > 0) return;
      const handed = [...this.#handed.values()];
      await assertNothingLost(this.#key, { store: this.#store, newLead: this.#lead.newLead, handed });
      this.#comparedLife = news.life;
    }
    const confirmed = await this.#store.confirmLife(this.#key, this.#sawSynchronous);
    if (confirmed === 'lost') throw refuseRun(this.#key.run, LOST_ATTEMPTS);
    if (!isNewLife || confirmed === 'waiting') return;
    if (!this.#context.stop.isRequested) await this.#open();
    this.#life = news.life;
  }

  #find(key: RequestKey): OpenRequest | undefined {
    return key.step === this.#context.planned.number ? this.#handed.get(keyOf(key)) : undefined;
  }

  #toEntries(ended: EndedAttempt): JournalEntry[] {
    const { at, result } = ended;
    const open = this.#find(ended);
    // Taken before: this process died before it could say so.
    if (open === undefined || result.kind === 'again') return [];
    this.#handed.delete(keyOf(ended));
    const outcome = { type: 'outcome', ...toRequestKey(ended), at, result } as const;
    if (result.kind === 'split') {
      for (const half of halvesOf(open)) this.#handed.set(keyOf(half), { ...half, isInFlight: true });
      // In one line: its worker has both.
      return [{ ...outcome, result: { ...result, areHalvesInFlight: true } }];
    }
    return [outcome];
  }

  /** What is in the store has an intent. */
  #begin(open: OpenRequest, at: number): JournalEntry {
    this.#handed.set(keyOf(open), { ...open, isInFlight: true });
    const { line, rows } = open;
    return { type: 'intent', ...toRequestKey(open), at, line, rows };
  }

  /** `all`: every request of the step was handed over; `enough`: what the limit sends in a lease; `some`: there is room for more. */
  async #handOver(): Promise<'all' | 'enough' | 'some'> {
    const { deps, journal, lock } = this.#context;
    const parts: HandedPart[] = [];
    const intents: JournalEntry[] = [];
    let handed: 'all' | 'enough' | 'some' = 'some';
    while (!isCallFull(parts)) {
      // As if all were such as the last one.
      const ahead = Math.max(LEAST_AHEAD, Math.min(MOST_AHEAD, this.#lead.leaseMs / this.#costMs));
      if (this.#handed.size >= ahead) handed = 'enough';
      if (handed === 'enough') break;
      const waiting = this.#waiting.shift();
      const part = waiting === undefined ? await this.#reader.next() : await this.#reader.readAgain(waiting);
      if (part === undefined) handed = 'all';
      if (part === undefined) break;
      const left = await this.#withheld.withhold(part);
      if (this.#withheld.failure !== undefined) break;
      if (left !== undefined) {
        this.#waiting.unshift(...left);
        continue;
      }
      if (parts.length === 0) await lock.assertHeld();
      const { open, head, body } = part;
      this.#costMs = this.#rate.costMs(costOf(part));
      intents.push(this.#begin(open, deps.clock.now()));
      parts.push({ ...toRequestKey(open), rows: open.rows, head, body, isInFlight: false });
    }
    if (parts.length === 0) return handed;
    // Together: they stand in one write, and a disk that fails is noticed here.
    await Promise.all(intents.map((intent) => journal.append(intent)));
    await this.#store.handOver(this.#key, parts);
    return handed;
  }
}

function isCallFull(parts: readonly HandedPart[]): boolean {
  const bytes = parts.reduce((sum, { body }) => sum + body.length, 0);
  return parts.length >= HANDED_AT_ONCE.parts || bytes >= HANDED_AT_ONCE.bytes;
}
