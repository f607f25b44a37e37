import type { NotSent, RowOutcomes } from '../domain/row.js';
import { millisecondsOf } from '../domain/stated-time.js';
import { describeOpening } from '../hours/window.js';
import type { RowCounts } from '../journal/entry-format.js';
import { halvesOf } from '../journal/replay.js';
import { explainStop, retryAfterOf, UNREAD, type Why, wasTurnedAway } from '../service/decide-answer.js';
import type { Lane } from '../throttle/lane.js';
import { StepNotices } from './run-events.js';
import { isOver, sleepUntil, stopAfter, tooLate } from './run-times.js';
import { Breaker, Caution, type Clearance, findFailing } from './send/breaker.js';
import { createPartQueue } from './send/part-queue.js';
import { costOf, type PartSource, type PartToSend } from './send/request-reader.js';
import { findClosed, type SendContext } from './send/send-context.js';
import { type Attempt, isUnknown, sendPart } from './send/send-part.js';
import { giveUpAll, withhold } from './send/withhold.js';

/** Sends the parts of a step, until none is left or the run is to stop. */
export class StepRunner {
  readonly #context: SendContext;
  readonly #source: PartSource;
  readonly #lane: Lane;
  readonly #breaker: Breaker;
  readonly #notices: StepNotices;
  readonly #rows: StepTally;
  readonly #caution: Caution;
  readonly #queue: ReturnType<typeof createPartQueue>;
  /** Parts in the lane, waiting or in flight. */
  readonly #underWay = { parts: 0, rows: 0 };
  /** Parts that were begun and have not ended, deferred ones included. */
  #inFlight = 0;
  #wake: () => void = () => {};
  #failure: unknown;
  #probe: Promise<unknown> = Promise.resolve();

  constructor(context: SendContext, source: PartSource, lane: Lane) {
    this.#context = context;
    this.#source = source;
    this.#queue = createPartQueue(context, source);
    this.#caution = new Caution({ isRepeatable: context.kind.isRepeatable(context.step) });
    this.#lane = lane;
    this.#notices = context.before?.notices ?? new StepNotices(context.deps, context.planned);
    this.#rows = new StepTally(context, this.#notices);
    const { clock, random } = context.deps;
    const giveUpAfterMs = context.service.giveUpAfterSeconds * 1000;
    this.#breaker = context.before?.breaker ?? new Breaker({ clock, random, giveUpAfterMs });
  }

  /** `begun`: those that were begun before. */
  async run(begun: readonly PartToSend[] = []): Promise<void> {
    this.#queue.push(...begun);
    this.#rows.report();
    // Twice what may be in flight: the next requests are read while the lane is full.
    const window = this.#context.step.limits.concurrency * 2;
    let isProbe = this.#breaker.isOpen;
    while (!this.#context.stop.isRequested && this.#failure === undefined) {
      const part = await this.#queue.next({ isSmallestFirst: this.#caution.isProbing });
      if (part !== undefined) await this.#begin(part);
      else if (this.#inFlight === 0 && !this.#queue.hasWaiting) {
        if (!(await this.#awaitMore())) break;
      } else if (this.#inFlight > 0 && this.#inFlight < window && this.#source.awaitMore !== undefined) {
        await Promise.race([this.#anyToEnd(), this.#source.awaitMore()]);
        continue;
      }
      // Open from before: others can have what would wait for its answer.
      isProbe &&= this.#breaker.isOpen;
      const isAwaited = isProbe && this.#underWay.parts > 0;
      if (this.#inFlight >= window || isAwaited || (part === undefined && this.#inFlight > 0)) await this.#anyToEnd();
    }
    while (this.#inFlight > 0) await this.#anyToEnd();
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Sends a part, or puts it back: until another has ended, or split smaller. */
  async #begin(part: PartToSend): Promise<void> {
    const { isInFlight, rows } = part.open;
    if (!isInFlight && findClosed(part, this.#context) !== undefined) return this.#queue.close(part);
    if (!this.#isInTime() || (await this.#withhold(part))) return;
    const { maxRows } = this.#caution;
    if (!this.#caution.mayBegin(Math.min(rows[1], maxRows), this.#underWay)) {
      this.#queue.putBack(part);
      await this.#anyToEnd();
    } else if (rows[1] > maxRows && !isInFlight) await this.#queue.split(part, maxRows);
    else this.#dispatch(part);
  }

  async #awaitMore(): Promise<boolean> {
    const { stages } = this.#context;
    if (this.#queue.closedGroups.length > 0) return this.#awaitOpening();
    if (this.#queue.hasClosed && stages !== undefined) return stages.endStage();
    return (await this.#source.awaitMore?.()) === true;
  }

  /** Where nothing is left of the stage but what is closed: stops the run, or returns true once something may have opened. */
  async #awaitOpening(): Promise<boolean> {
    const { closedGroups } = this.#queue;
    const { deps, hours, planned, stop } = this.#context;
    if (hours === undefined) return false;
    const opening = hours.findNext(closedGroups);
    const { notAfter } = this.#context;
    if (notAfter !== undefined && !hours.opensBefore(opening, millisecondsOf(notAfter))) {
      const verdict = tooLate(notAfter, 'comes before the window opens again');
      this.#countWithheld(verdict, await giveUpAll(this.#queue.takeClosed(), verdict, this.#context));
      return true;
    }
    const so = `step ${planned.number}: the window is closed for all that is left; ${describeOpening(opening)}`;
    if (hours.outside === 'stop' || opening === undefined) stop.request('closed', so);
    else {
      deps.onNotice(`${so}; waiting for it`, { event: 'closed', step: planned.number, nextOpening: opening.atMs });
      await sleepUntil(opening.atMs, deps.clock, stop.nothingNew);
    }
    return !stop.isRequested;
  }

  /** True where rows of the part may not be sent, so that it was not begun: what is left of it waits in the queue. */
  async #withhold(part: PartToSend): Promise<boolean> {
    try {
      const withheld = await withhold(part, this.#context);
      if (withheld === undefined) return false;
      this.#queue.putBack(...withheld.left);
      for (const { verdict, count } of withheld.verdicts) this.#countWithheld(verdict, count);
    } catch (error) {
      this.#fail(error);
    }
    return true;
  }

  #countWithheld(verdict: NotSent, count: number): void {
    this.#notices.noteWithheld(count, verdict);
    this.#rows.report();
  }

  /** What is in flight is awaited before `run` throws. */
  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#context.stop.request('interrupted', 'the run failed');
  }

  /** A scheduled time that passes while the step is sent ends it: later requests would be sent at once, or expire. So does `notAfter`. */
  #isInTime(): boolean {
    const { deps, kind, planned, step, stop } = this.#context;
    // A process that was stopped meanwhile comes here before its timer is due.
    if (isOver(this.#context, deps.clock)) {
      stopAfter(this.#context, stop, deps.clock);
      return false;
    }
    const fault = kind.findTimeFault?.(step, deps.clock.now());
    if (fault !== undefined) stop.request('guard', `step ${planned.number}: ${fault.message}`, 'time-passed');
    return fault === undefined;
  }

  #dispatch(part: PartToSend): void {
    const rows = part.open.rows[1];
    this.#inFlight += 1;
    this.#underWay.parts += 1;
    this.#underWay.rows += rows;
    this.#send(part)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#inFlight -= 1;
        this.#underWay.parts -= 1;
        this.#underWay.rows -= rows;
        this.#wake();
      });
  }

  #anyToEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #send(part: PartToSend): Promise<void> {
    if (!this.#breaker.isOpen) return this.#attempt(part);
    // While the breaker is open one request at a time is a probe; the others wait for its answer.
    const turn = this.#probe.then(() => this.#attempt(part));
    this.#probe = turn.catch(() => {});
    return turn;
  }

  async #attempt(part: PartToSend): Promise<void> {
    let isBegun = false;
    const clearance = this.#caution.clear();
    const maySend = () => this.#caution.holds(clearance);
    try {
      const attempt = await this.#lane.run(costOf(part), (gate) => {
        isBegun = true;
        const isClosed = !part.open.isInFlight && findClosed(part, this.#context) !== undefined;
        if (!isClosed && maySend()) return sendPart(part, this.#context, { gate, maySend });
        this.#queue.push(part);
        return Promise.resolve(undefined);
      });
      if (attempt === undefined) return;
      this.#take(part, attempt, clearance);
      const { deps, planned } = this.#context;
      const { number, kind } = planned;
      deps.onAttempt?.({ step: number, kind, isBreakerOpen: this.#breaker.isOpen });
    } catch (error) {
      // A stopped lane rejects what it had not admitted: no intent was written for it.
      if (isBegun || !this.#context.stop.isRequested) throw error;
    }
  }

  #take(part: PartToSend, { result, decision, deferMs }: NonNullable<Attempt>, clearance: Clearance): void {
    const { stop } = this.#context;
    if (result.kind === 'again') this.#takeAgain(part, decision, deferMs);
    if (result.kind === 'split') {
      for (const open of halvesOf(part.open)) this.#queue.push({ ...part, open });
    }
    if (result.kind === 'settled') this.#count(result.outcomes);
    if (result.kind === 'given-up') this.#countWithheld(result.verdict, part.open.rows[1]);
    if (decision === undefined) return;
    if (decision.kind === 'stop') {
      stop.request(decision.reason, explainStop(decision, this.#context.kind.area), decision.fault);
      return;
    }
    const isAnswered = decision.kind === 'refused' || (decision.kind === 'read' && !isUnknown(result));
    if (isAnswered) {
      this.#breaker.noteGood();
      this.#caution.noteGood(clearance);
      this.#lane.noteSuccess();
      return;
    }
    this.#noteBad(decision, clearance);
  }

  #count({ rows, verdicts }: RowOutcomes): void {
    const inDoubt = rows.filter(([index]) => verdicts[index]?.status === 'in-doubt').length;
    this.#caution.noteAnswered(rows.length - inDoubt);
    const doubt = verdicts.find(({ status }) => status === 'in-doubt');
    if (doubt !== undefined) this.#notices.noteInDoubt(inDoubt, doubt);
    this.#rows.report();
    this.#rows.guard();
  }

  #takeAgain(part: PartToSend, decision: NonNullable<Attempt>['decision'], deferMs: number | undefined): void {
    const isUnknown = decision?.kind === 'again' && decision.mayHaveBeenProcessed && !this.#breaker.isOpen;
    const next = { ...part, open: { ...part.open, isInFlight: false } };
    if (deferMs !== undefined) this.#sendLater({ ...next, deferrals: part.deferrals + 1 }, deferMs);
    else this.#queue.push(isUnknown ? { ...next, ambiguousAttempts: part.ambiguousAttempts + 1 } : next);
  }

  /** The part counts as in flight while it waits, so that the step does not end without it. */
  #sendLater(part: PartToSend, delayMs: number): void {
    const { deps, stop } = this.#context;
    this.#inFlight += 1;
    void deps.clock.sleep(delayMs, stop.nothingNew).then(() => {
      this.#inFlight -= 1;
      this.#queue.push(part);
      this.#wake();
    });
  }

  #noteBad(decision: Exclude<NonNullable<Attempt>['decision'], undefined>, clearance: Clearance): void {
    const { stop, service } = this.#context;
    const isInDoubt = decision.kind === 'in-doubt' || decision.kind === 'read';
    const retryAfterMs = retryAfterOf(decision);
    if (isInDoubt && !this.#caution.noteDoubt(clearance)) {
      if (retryAfterMs !== undefined) this.#lane.pauseFor(retryAfterMs, { isOwn: false });
      return;
    }
    const pauseMs = this.#breaker.noteBad(isInDoubt);
    const { why, fault }: Why = 'why' in decision ? decision : UNREAD;
    if (retryAfterMs !== undefined && retryAfterMs > service.giveUpAfterSeconds * 1000) {
      stop.request('unavailable', `${why}, and asks to come back in ${Math.ceil(retryAfterMs / 1000)} s`, fault);
    } else if (this.#breaker.shouldGiveUp) stop.request('unavailable', why, fault);
    const isTurnedAway = wasTurnedAway(decision);
    if (isTurnedAway) this.#lane.slowDown();
    this.#lane.pauseFor(retryAfterMs ?? pauseMs, { isOwn: !isTurnedAway });
    if (decision.kind === 'wait' && (retryAfterMs !== undefined || why.includes('429'))) {
      this.#notices.noteThrottled(why, retryAfterMs ?? pauseMs);
    } else if (!isInDoubt) this.#notices.noteOutage(why);
    if (!this.#breaker.isOpen) return;
    this.#notices.noteBreakerOpen(why, service.giveUpAfterSeconds);
    // Any answer shows that there is a way.
    if (decision.kind === 'again' && !decision.mayHaveBeenProcessed) this.#context.onAway?.();
  }
}

type TalliedStep = Pick<SendContext, 'deps' | 'stop' | 'planned' | 'progress' | 'maxFailedPercent'>;

/** What became of the rows of a step so far, as its journal has it: reports it, and stops a run that mostly fails. */
export class StepTally {
  readonly #context: TalliedStep;
  readonly #notices: StepNotices;
  /** Outcomes before this process: a person who resumes a guarded run has reviewed those. */
  readonly #before: Readonly<RowCounts>;

  constructor(context: TalliedStep, notices: StepNotices) {
    this.#context = context;
    this.#notices = notices;
    this.#before = { ...context.progress.settledRows };
  }

  report(): void {
    const { deps, planned, progress } = this.#context;
    const { accepted, rejected, 'in-doubt': inDoubt, 'not-sent': notSent } = progress.settledRows;
    deps.onProgress({
      step: planned.number,
      kind: planned.kind,
      rows: planned.counts.planned,
      settled: accepted + rejected + inDoubt + notSent,
      accepted,
      rejected,
      inDoubt,
    });
  }

  guard(): void {
    const { maxFailedPercent, stop, progress } = this.#context;
    const accepted = progress.settledRows.accepted - this.#before.accepted;
    const rejected = progress.settledRows.rejected - this.#before.rejected;
    const why = findFailing({ accepted, rejected }, maxFailedPercent);
    if (why === undefined) return;
    stop.request('guard', why);
    this.#notices.noteGuard(why);
  }
}
