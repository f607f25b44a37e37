import { runVerb } from '../../src/command/runner.js';
import type { Terminal } from '../../src/command/terminal.js';
import { UserError } from '../../src/domain/errors.js';
import { createRandom } from '../../src/sandbox/random.js';
import { prune } from '../../src/verbs/prune.js';
import { applyRun, runLoadedJob, type Sampling } from '../command/give-verb.js';
import { COLUMNS } from '../kinds/examples.js';
import type { Mishap, Process } from '../world/process.js';
import { NOON } from '../world/timeline.js';
import { entriesIn, Violation } from '../world/violation.js';
import { World } from '../world/world.js';
import { checkAccount } from './account.js';
import { checkEnd, checkRepeated } from './check-end.js';
import { checkPrinted, parsePrinted } from './life-account.js';
import { isOpen, PeopleWatch } from './people-watch.js';
import { readPlannedRows } from './planned-rows.js';
import { RunWatch, subjectOf } from './run-watch.js';
import {
  countStages,
  createCampaign,
  createMishap,
  type Host,
  MAX_SKEW_MS,
  pick,
  refuseNumber,
  type Scenario,
} from './scenario.js';
import { SimReceipts } from './sim-receipts.js';
import { checkSnapshots } from './snapshots.js';

export interface Simulated {
  /** Of everything that happened, in its order. */
  readonly traceDigest: string;
  readonly trace: readonly string[];
  readonly lives: number;
  readonly requests: number;
  readonly inDoubt: number;
}

/** Processes begin anew a minute and a bit later, by any clock: every lease is over by then. */
const BETWEEN_LIVES_MS = 61_000 + 2 * MAX_SKEW_MS;
/** For an answer, and for work. */
const ROOM_MS = 120_000;

/**
 * Runs a job on a simulated disk, clock and service until it is finished, through all that the seed has in store: kills,
 * power cuts, signals, a second runner, faults. Throws a Violation where a promise does not hold.
 */
export function simulate(seed: number, { keepTrace = false } = {}): Promise<Simulated> {
  const { first, others } = createCampaign(createRandom(seed, 1), createRandom(seed, 6));
  const simulation = new Simulation(first, new World(seed, keepTrace), others);
  return withTrace(simulation.world, () => simulation.run());
}

/** An error has all that happened before it. */
export async function withTrace<T>({ lines }: World, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw Object.assign(error as Error, { trace: lines });
  }
}

/** A job of a scenario in a world, watched at each step. */
export class Simulation {
  readonly world: World;
  readonly scenario: Scenario;
  readonly watch: RunWatch;
  /** Those that were alive at the same time as another of this job. */
  readonly #besides = new Set<Process>();
  readonly #own = new Set<Process>();
  readonly #others: readonly Simulation[];
  /** Of the first job of a world. */
  readonly #people: PeopleWatch | undefined;
  /** The same, for all of its jobs: their lists are the same. */
  #lists: PeopleWatch | undefined;
  readonly #receipts: SimReceipts;
  readonly #stages: number;
  protected last: Process | undefined;
  #isCalm = false;

  /** `others`: jobs in the same world; undefined for one of these, which the first watches. */
  constructor(scenario: Scenario, world: World, others?: readonly Scenario[]) {
    this.world = world;
    this.scenario = scenario;
    this.#stages = countStages(scenario);
    const { service, timeline } = world;
    this.#receipts = new SimReceipts(world);
    this.watch = new RunWatch(scenario, world, this.#receipts);
    this.#others = (others ?? []).map((other) => new Simulation(other, world));
    if (others === undefined) return;
    const jobs = [this, ...this.#others];
    const jobOf = (process: unknown) => this.#others.find((other) => other.#own.has(process as Process)) ?? this;
    world.tables.set('/in/people.csv', {
      columns: Object.keys(COLUMNS),
      rows: scenario.rows.map(({ name, mobile, session, code }) => [name, mobile, session, code]),
    });
    world.turnMs = scenario.turnMs ?? 1;
    world.onSynced = (path) =>
      world.guard(() => {
        for (const { watch } of jobs) watch.onSynced(path);
      });
    world.onPrinted = (process, text) => {
      const job = jobOf(process);
      job.checkPrinted(text, !job.#besides.has(process));
    };
    const people = new PeopleWatch(world, scenario.rows);
    this.#people = people;
    for (const job of jobs) job.#lists = people;
    service.service.holdSessions(scenario.rows);
    service.faults = scenario.faults;
    service.refuse = (number, area) => refuseNumber(number, area, timeline.nowMs);
    service.watch = {
      onLeave: (request, sender) => {
        const process = sender as Process;
        const { scenario, watch } = jobOf(process);
        world.guard(() => people.onLeave(scenario.job, subjectOf(request, scenario), process));
        const leave = world.guard(() => watch.onLeave(request, process));
        return (done) =>
          world.guard(() => {
            if (leave !== undefined) watch.onProcessed(leave, request, done);
            people.onProcessed(scenario.job, done, process);
          });
      },
    };
  }

  async run(): Promise<Simulated> {
    const { service, lines: trace } = this.world;
    if (this.#people !== undefined) await this.#people.begin(this.scenario.job);
    await this.#awaitHours();
    let lives = 0;
    for (const [index, mishap] of this.scenario.mishaps.entries()) {
      lives += 1;
      await this.live(mishap, true, index);
      if (this.#isDone) break;
    }
    this.endFaults();
    this.#isCalm = true;
    for (let more = 0; !this.#isDone; more++) {
      const { exitCode, error, stdout } = this.last ?? {};
      if (more === this.livesToFinish + 2 * this.#stages)
        throw new Violation(`the run does not end: ${exitCode} ${error} ${stdout}`);
      lives += 1;
      await this.live(undefined, false);
    }
    const { requests } = service;
    const again = await this.live(undefined, false);
    if (service.requests !== requests) throw new Violation('a finished run repeated sends');
    await this.end();
    const inDoubt = checkAccount(this.world.disk, this.scenario, service.service, this.watch.kept);
    checkRepeated(again, inDoubt);
    this.#people?.checkLeftOut(this.scenario, this.watch.directory ?? '');
    const known = inDoubt.filter((row) => !service.unknowable.has(row));
    if (known.length > 0 && !this.mayLoseCauses) throw new Violation(`in doubt without a cause: ${known.join(', ')}`);
    await this.#prune();
    const sum = { lives, inDoubt: inDoubt.length };
    for (const other of this.#others) {
      const { lives, inDoubt } = await other.run();
      sum.lives += lives;
      sum.inDoubt += inDoubt;
    }
    return { traceDigest: this.world.digest, trace, requests: service.requests, ...sum };
  }

  /** Rows of the finished run are deleted, by a process that may die and by one that does not; it is known what they were. */
  async #prune(): Promise<void> {
    const { world, scenario } = this;
    if (scenario.isChanging !== true || world.random() < 0.5) return;
    const none = { olderThan: 0, keepLast: 0, dryRun: false, adopt: false };
    const flags = { job: `/out/${scenario.job.name}`, ...none, json: true };
    for (const mishap of [createMishap(world.random), undefined]) {
      const pruning = this.#start('node-a', mishap, (terminal) => runVerb('prune', prune, flags, terminal));
      await world.runUntil(() => pruning.isOver);
      this.noteEnd(pruning);
      await world.pass(BETWEEN_LIVES_MS);
    }
    const { requests } = world.service;
    await this.live(undefined, false);
    if (world.service.requests !== requests) throw new Violation('a pruned run repeated sends');
  }

  /** Without mishaps and faults a run must come to its end in so many lives: 75 for a breaker that is still open, a lock … */
  protected readonly livesToFinish: number = 5;

  /** Whether rows may be in doubt for another reason than those that are noted. */
  protected get mayLoseCauses(): boolean {
    return this.scenario.rival?.standsBy === false;
  }

  protected endFaults(): void {
    this.world.service.faults = {};
  }

  /** Once the job is finished. */
  protected async end(): Promise<void> {}

  protected checkPrinted(text: string, isAlone: boolean): void {
    const { scenario, watch } = this;
    const { disk, guard } = this.world;
    guard(() => checkPrinted(text, { isAlone }, { disk, scenario, watch }));
  }

  get #isDone(): boolean {
    const { exitCode = 75, stdout = '' } = this.last ?? {};
    return [0, 1, 3].includes(exitCode) && parsePrinted(stdout).state !== 'stopped';
  }

  /** What a person types: a sample first, and the rest once that waits for it; or that it stands by. */
  get #sampling(): Sampling & { readonly standby?: boolean } {
    const { sample, rival } = this.scenario;
    if (rival?.standsBy === true) return { standby: true };
    const looks = [...this.watch.record.stages.values()];
    if (sample === undefined || (looks.length > 0 && looks.every(({ verdict }) => verdict === 'passed'))) return {};
    return looks.some(({ verdict }) => verdict === 'asked') ? { rest: true } : { first: sample };
  }

  /** What a person types: mostly that a stage passes, once it waits for them; else the job again. */
  #chooseCommand(): (terminal: Terminal) => Promise<number> {
    const { scenario, watch, world } = this;
    const { directory = '', record } = watch;
    const held = [...record.stages.values()].find(({ verdict }) => verdict === 'held');
    if (held === undefined || !(this.#isCalm || world.random() < 0.7))
      return (terminal) => runLoadedJob(scenario.job, { json: true, ...this.#sampling }, terminal);
    const confirm = directory.slice(directory.lastIndexOf('-') + 1);
    return (terminal) => applyRun({ run: directory, passStage: held.number, confirm, json: true }, terminal);
  }

  /** One life of the first runner, with that of its rival beside it, to the end of both. `_index`: of its mishap. */
  protected async live(mishap: Mishap | undefined, hasRival: boolean, _index?: number): Promise<Process> {
    if (this.#isCalm || this.world.random() < 0.6) this.#lists?.fixList();
    if (this.#stages > 0 && this.world.random() < 0.4) await this.#receipts.come(this.watch.directory);
    const first = this.#start('node-a', mishap);
    const others = hasRival ? this.#scheduleRivals(first) : [];
    const beside = hasRival ? this.#scheduleOthers(first) : [];
    await this.world.runUntil(() => first.isOver && [...others, ...beside].every(({ isOver }) => isOver));
    for (const process of [first, ...others]) this.noteEnd(process);
    for (const other of this.#others) for (const process of beside) if (other.#own.has(process)) other.noteEnd(process);
    await this.wait(first);
    await checkSnapshots(this.world.disk);
    this.last = first;
    return first;
  }

  /** Until the next life. */
  protected async wait(_first: Process): Promise<void> {
    await this.world.pass(BETWEEN_LIVES_MS);
    await this.#awaitHours();
  }

  /** Mostly until its hours have come, and among mishaps often until seconds before they end. */
  async #awaitHours(): Promise<void> {
    const { world, scenario } = this;
    const windows = scenario.job.steps.flatMap((step) => (step.kind === 'sms' && step.window ? [step.window] : []));
    const clockMs = () => NOON + world.timeline.nowMs + scenario.skewMs['node-a'];
    const isClosed = () => windows.some((hours) => [0, ROOM_MS].some((ms) => !isOpen(hours, clockMs() + ms)));
    if (windows.length === 0 || world.random() < 0.1) return;
    while (isClosed()) await world.pass(60_000);
    if (this.#isCalm || world.random() < 0.5) return;
    while (!isClosed()) await world.pass(60_000);
    const endMs = Math.floor((clockMs() + ROOM_MS) / 60_000) * 60_000;
    await world.pass(endMs - clockMs() - 1000 - world.random() * 9000);
  }

  /** As long as the first process lives, others of its campaign begin or go on, people opt out and in, and receipts come. */
  #scheduleOthers(first: Process): readonly Process[] {
    const started: Process[] = [];
    const { random, timeline } = this.world;
    const within = (delayMs: number, act: () => void) =>
      timeline.schedule(random() * delayMs, () => first.isOver || act());
    for (const other of this.#others) {
      if (random() < 0.5 || other.#isDone) continue;
      within(1000, () => {
        other.last = other.#start('node-b', createMishap(random));
        started.push(other.last);
      });
    }
    // In its first seconds, or while it waits before a stage is judged.
    const soon = () => (this.#stages > 0 ? [9000, 60_000, 600_000][pick(random, 3)]! : 9000);
    for (let left = this.#stages > 0 ? pick(random, 9) : 0; left > 0; left -= 1)
      within(soon(), () => void this.#receipts.come(this.watch.directory));
    if (this.scenario.job.optOuts === undefined) return started;
    for (let left = pick(random, 8); left > 0; left -= 1) {
      const { mobile } = this.scenario.rows[pick(random, this.scenario.rows.length)]!;
      const what = random() < 0.7 ? 'out' : 'in';
      const isCut = random() < 0.2;
      if (mobile.startsWith('+')) within(soon(), () => void this.#people?.decide(mobile, what, isCut));
    }
    return started;
  }

  /** As long as the first process lives, others try to take its job, one after the other: those that have started. */
  #scheduleRivals(first: Process): readonly Process[] {
    const { rival } = this.scenario;
    const started: Process[] = [];
    if (rival === undefined) return started;
    const challenge = (attempt: number) => {
      if (first.isOver || attempt > 6) return;
      if (!rival.standsBy || started.every(({ isOver }) => isOver))
        started.push(this.#start(rival.isOnSameHost ? 'node-a' : 'node-b', attempt === 0 ? rival.mishap : undefined));
      this.world.timeline.schedule(25_000, () => challenge(attempt + 1));
    };
    this.world.timeline.schedule(rival.delayMs, () => challenge(0));
    return started;
  }

  #start(host: Host, mishap: Mishap | undefined, command = this.#chooseCommand()): Process {
    const others = [...this.#own].filter(({ isAlive }) => isAlive);
    const process = this.world.start({ host, mishap, skewMs: this.scenario.skewMs[host] }, command);
    this.#own.add(process);
    if (others.length > 0) for (const each of [...others, process]) this.#besides.add(each);
    return process;
  }

  protected noteEnd(process: Process): void {
    checkEnd(process, this.scenario, (error) => error instanceof UserError && this.#mayRefuse(error, process));
    this.#noteOpenRows();
  }

  /** A list that cannot be read refuses, as it plans and as it sends; so does a stage that waits for a person, or that another process has let pass meanwhile. */
  #mayRefuse({ code }: UserError, process: Process): boolean {
    if (['bad-input', 'guard'].includes(code) && this.#lists?.wasTorn(process) === true) return true;
    const { scenario, watch } = this;
    const isStaged = this.#stages > 0 || scenario.sample !== undefined;
    if (isStaged && scenario.rival !== undefined) return code === 'guard' || code === 'bad-plan';
    return code === 'guard' && [...watch.record.stages.values()].some(({ verdict }) => verdict === 'held');
  }

  /** Rows of intents without an outcome when a process is gone: they may have been sent. */
  #noteOpenRows(): void {
    const { volume } = this.world.disk;
    const { directory } = this.watch;
    const path = `${directory}/journal.ndjson`;
    if (directory === undefined || !volume.existsSync(path)) return;
    const open = new Map<string, { step: number; rows: readonly [number, number] }>();
    for (const entry of entriesIn(volume.readFileSync(path) as Buffer)) {
      if (entry.type === 'intent') open.set(`${entry.step}-${entry.request}-${entry.part}`, entry);
      if (entry.type === 'outcome') open.delete(`${entry.step}-${entry.request}-${entry.part}`);
    }
    for (const { step, rows } of open.values()) this.noteUnknowable(step, rows);
  }

  protected noteUnknowable(step: number, [first, count]: readonly [number, number]): void {
    const { directory } = this.watch;
    if (directory === undefined) return;
    const { kind, planned } = readPlannedRows(this.world.disk, this.scenario, directory)[step - 1]!;
    for (const row of planned.slice(first, first + count)) this.world.service.unknowable.add(`${kind} ${row}`);
  }
}
