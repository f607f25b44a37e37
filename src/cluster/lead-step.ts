import { closing } from '../domain/closing.js';
import type { JournalEntry, RequestKey } from '../journal/entry-format.js';
import { halvesOf, keyOf, type OpenRequest } from '../journal/replay.js';
import { StepNotices } from '../run/run-events.js';
import { provisionStep } from '../run/send/provision-step.js';
import { costOf, type PartToSend, RequestReader } from '../run/send/request-reader.js';
import type { StepContext } from '../run/send/send-context.js';
import { StepTally } from '../run/step-runner.js';
import type { StopReason } from '../run/stop.js';
import { Rate } from '../throttle/rate.js';
import { assertNothingLost, LOST_ATTEMPTS, refuseRun, toRequestKey } from './lead-run.js';
import { ServiceJudge, WithheldParts } from './leader-watch.js';
import type { EndedAttempt, HandedPart, LeadKey, NewLead, OnLost, RunNews, Store } from './store.js';

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
  const { deps, directory, journal, kind, lock, planned, progress, step, stop } = context;
  const provisionedIds = await provisionStep(context);
  if (provisionedIds === undefined) return;
  await using reader = closing(await RequestReader.open(deps.files, directory, planned, progress));
  const onLost: OnLost = kind.isRepeatable(step) ? 'again' : kind.outcomeQuery === undefined ? 'in-doubt' : 'query';
  const { store, key, leaseMs } = lead;
  const openStep = () => store.openStep(key, { step: planned.number, provisionedIds, onLost });
  // Commits are lost from the end: a life of the server that knows this leader has what was handed over before.
  const seen = await store.readServer();
  /** The life of the server when it was last known to have all that it was given. */
  let { life } = seen;
  /** The life of the server in which all that was handed over was found; workers may know more. */
  let comparedLife = life;
  /** Whether in `life` a standby had every commit. */
  let sawSynchronous = seen.isSynchronous;
  const rate = new Rate(step.limits);
  /** What the last request that was handed over costs at the limit. */
  let costMs = 0;
  /** Requests that were handed over and have no final outcome, or that are known to be in the store. */
  const handed = new Map<string, OpenRequest>();
  /** Requests that an earlier process began, and that the store does not have. */
  let waiting: OpenRequest[] = [];
  for (const part of progress.open.values()) {
    if (lead.isKnown && part.isInFlight) handed.set(keyOf(part), part);
    else waiting.push(part);
  }
  const rows = new StepTally(context, new StepNotices(deps, planned));
  const withheld = new WithheldParts(context, reader);
  const giveUpAfterMs = context.service.giveUpAfterSeconds * 1000 + leaseMs;
  const judge = new ServiceJudge({ ...deps, ...step.limits, giveUpAfterMs });
  /** Ends that the journal has; the store does not know that yet. */
  let taken: readonly number[] = [];

  await handOverInFlight();
  await recall();
  await openStep();
  await run();

  /** What may not be sent any more, and no worker has begun, waits again: a leader may have died long ago, and lists grow. */
  async function recall(): Promise<void> {
    const found = await withheld.findAmong(handed.values());
    if (found.length > 0) await takeBack(found, 'it is looked at again before it is sent');
  }

  /** What no worker has begun waits again. Returns what stays in flight: an earlier process may have sent it. */
  async function takeBack(parts: readonly OpenRequest[], why: string): Promise<readonly RequestKey[]> {
    await lock.assertHeld();
    const back = await store.takeBack(key, parts.map(toRequestKey));
    const result = { kind: 'again', why } as const;
    const unsent = back.flatMap((part) => (part.isInFlight ? [] : (find(part) ?? [])));
    for (const part of unsent) {
      handed.delete(keyOf(part));
      waiting.push({ ...part, isInFlight: false });
    }
    const at = deps.clock.now();
    await Promise.all(unsent.map((part) => journal.append({ type: 'outcome', ...toRequestKey(part), at, result })));
    return back.filter((part) => part.isInFlight);
  }

  /** Runs before the step is open: after that, what was in flight and is not in the store counts as never sent. */
  async function handOverInFlight(): Promise<void> {
    const inFlight = waiting.filter((part) => part.isInFlight);
    if (inFlight.length === 0) return;
    await lock.assertHeld();
    const parts: HandedPart[] = [];
    for (const open of inFlight) {
      const { head, body } = await reader.readAgain(open);
      parts.push({ ...toRequestKey(open), rows: open.rows, head, body, isInFlight: true });
      handed.set(keyOf(open), open);
      if (isCallFull(parts) || open === inFlight.at(-1)) await store.handOver(key, parts.splice(0));
    }
    waiting = waiting.filter((part) => !part.isInFlight);
  }

  async function run(): Promise<void> {
    rows.report();
    for (;;) {
      const news = await takeNews();
      stopWhere(news);
      if (stop.isRequested) break;
      if (await goOn(news)) return;
    }
    await end();
    if (withheld.failure !== undefined) throw withheld.failure;
  }

  /** Returns whether nothing of the step is left. */
  async function goOn(news: RunNews): Promise<boolean> {
    // A call of this process that was long on its way has closed it, or opened another.
    if (news.openStep !== planned.number) await openStep();
    if (life === news.life) await recall();
    const how = await handOver();
    if (how === 'all' && handed.size === 0) return true;
    if (news.ended.length < NEWS_AT_ONCE) await deps.clock.sleep(how === 'some' ? SOON_MS : pollMs(), stop.nothingNew);
    return false;
  }

  /** Sooner towards the end of the step. */
  function pollMs(): number {
    const requests = Math.min(POLL.requests, handed.size / 2);
    return Math.min(POLL.mostMs, Math.max(POLL.leastMs, requests * costMs));
  }

  function stopWhere(news: RunNews): void {
    const away = judge.explainAbsence(news, handed.size > 0);
    if (news.stop !== undefined) stop.request(news.stop.reason as StopReason, news.stop.detail, news.stop.fault);
    if (away !== undefined) stop.request('unavailable', away);
  }

  /** Waits for what is under way, and takes back what is not; what is still open then stays with the store, for the next run. */
  async function end(): Promise<void> {
    const { reason = 'interrupted', detail = '' } = stop.reason ?? {};
    await store.askToStop(key, { reason, detail });
    for (;;) {
      const inFlight = await takeBack([...handed.values()], 'the run stopped before it was sent');
      // The next run asks the service.
      for (const part of inFlight) handed.delete(keyOf(part));
      if (stop.nothingMore.aborted) return;
      const news = await takeNews();
      if (handed.size === 0) return;
      if (news.ended.length === 0) await deps.clock.sleep(pollMs(), stop.nothingMore);
    }
  }

  async function takeNews(): Promise<RunNews> {
    await lock.assertHeld();
    const news = await store.readNews(key, { limit: NEWS_AT_ONCE, taken: taken });
    taken = [];
    await confirmLife(news);
    if (news.ended.length === 0) return news;
    await lock.assertHeld();
    // In their order: one may be of the half of a request whose split came right before. Together: they stand in one write.
    const entries = news.ended.flatMap((ended) => toEntries(ended));
    await Promise.all(entries.map((entry) => journal.append(entry)));
    // Said with the next call, behind its look at the lock: of a process that lost it meanwhile they do not count.
    taken = news.ended.map(({ order }) => order);
    rows.report();
    rows.guard();
    for (const ended of news.ended) judge.note(ended);
    return news;
  }

  /**
   * What ended before the last news was lost is taken first: then only what is not taken is left to compare. A life is confirmed
   * after that: if this process refuses it, or dies, the next one compares as well.
   */
  async function confirmLife(news: RunNews): Promise<void> {
    const isNewLife = life !== news.life;
    if (!isNewLife) sawSynchronous = news.isSynchronous;
    if (!isNewLife && news.isConfirmed) return;
    if (isNewLife && comparedLife !== news.life) {
      if (news.ended.length > 0) return;
      await assertNothingLost(key, { store, newLead: lead.newLead, handed: [...handed.values()] });
      comparedLife = news.life;
    }
    const confirmed = await store.confirmLife(key, sawSynchronous);
    if (confirmed === 'lost') throw refuseRun(key.run, LOST_ATTEMPTS);
    if (!isNewLife || confirmed === 'waiting') return;
    if (!stop.isRequested) await openStep();
    life = news.life;
  }

  function find(key: RequestKey): OpenRequest | undefined {
    return key.step === planned.number ? handed.get(keyOf(key)) : undefined;
  }

  function toEntries(ended: EndedAttempt): JournalEntry[] {
    const { at, result } = ended;
    const open = find(ended);
    // Taken before: this process died before it could say so.
    if (open === undefined || result.kind === 'again') return [];
    handed.delete(keyOf(ended));
    const outcome = { type: 'outcome', ...toRequestKey(ended), at, result } as const;
    if (result.kind === 'split') {
      for (const half of halvesOf(open)) handed.set(keyOf(half), { ...half, isInFlight: true });
      // In one line: its worker has both.
      return [{ ...outcome, result: { ...result, areHalvesInFlight: true } }];
    }
    return [outcome];
  }

  /** What is in the store has an intent. */
  function begin(open: OpenRequest, at: number): JournalEntry {
    handed.set(keyOf(open), { ...open, isInFlight: true });
    const { line, rows } = open;
    return { type: 'intent', ...toRequestKey(open), at, line, rows };
  }

  /** `all`: every request of the step was handed over; `enough`: what the limit sends in a lease; `some`: there is room for more. */
  async function handOver(): Promise<'all' | 'enough' | 'some'> {
    const parts: HandedPart[] = [];
    const intents: JournalEntry[] = [];
    const how = await gather(parts, intents);
    if (parts.length === 0) return how;
    // Together: they stand in one write, and a disk that fails is noticed here.
    await Promise.all(intents.map((intent) => journal.append(intent)));
    await store.handOver(key, parts);
    return how;
  }

  async function gather(parts: HandedPart[], intents: JournalEntry[]): ReturnType<typeof handOver> {
    while (!isCallFull(parts)) {
      // As if all were such as the last one.
      const ahead = Math.max(LEAST_AHEAD, Math.min(MOST_AHEAD, leaseMs / costMs));
      if (handed.size >= ahead) return 'enough';
      const part = await readNext();
      if (part === undefined) return withheld.failure === undefined ? 'all' : 'some';
      if (parts.length === 0) await lock.assertHeld();
      const { open, head, body } = part;
      costMs = rate.costMs(costOf(part));
      intents.push(begin(open, deps.clock.now()));
      parts.push({ ...toRequestKey(open), rows: open.rows, head, body, isInFlight: false });
    }
    return 'some';
  }

  /** The next request that may be sent; undefined where none is left, or that cannot be known. */
  async function readNext(): Promise<PartToSend | undefined> {
    for (;;) {
      const open = waiting.shift();
      const part = open === undefined ? await reader.next() : await reader.readAgain(open);
      const left = part && (await withheld.withhold(part));
      if (withheld.failure !== undefined) return undefined;
      if (left === undefined) return part;
      waiting.unshift(...left);
    }
  }
}

function isCallFull(parts: readonly HandedPart[]): boolean {
  const bytes = parts.reduce((sum, { body }) => sum + body.length, 0);
  return parts.length >= HANDED_AT_ONCE.parts || bytes >= HANDED_AT_ONCE.bytes;
}
