import { createRandom } from '../../src/sandbox/random.js';
import { runLoadedJob } from '../command/give-verb.js';
import { COLUMNS } from '../kinds/examples.js';
import type { Mishap, Process } from '../world/process.js';
import { entriesIn, Violation } from '../world/violation.js';
import { World } from '../world/world.js';
import { checkAccount } from './account.js';
import { checkEnd, checkRepeated } from './check-end.js';
import { checkPrinted } from './life-account.js';
import { readPlannedRows } from './planned-rows.js';
import { RunWatch } from './run-watch.js';
import { createScenario, type Host, MAX_SKEW_MS, refuseNumber, type Scenario } from './scenario.js';
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

/**
 * Runs a job on a simulated disk, clock and service until it is finished, through all that the seed has in store: kills,
 * power cuts, signals, a second runner, faults. Throws a Violation where a promise does not hold.
 */
export function simulate(seed: number, { keepTrace = false } = {}): Promise<Simulated> {
  const simulation = new Simulation(createScenario(createRandom(seed, 1)), new World(seed, keepTrace));
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
  /** Those that were alive at the same time as another. */
  readonly #besides = new Set<Process>();
  protected last: Process | undefined;

  constructor(scenario: Scenario, world: World) {
    this.world = world;
    this.scenario = scenario;
    const { disk, service, timeline } = world;
    this.watch = new RunWatch(disk, scenario, service.service);
    world.tables.set('/in/people.csv', {
      columns: Object.keys(COLUMNS),
      rows: scenario.rows.map(({ name, mobile, session, code }) => [name, mobile, session, code]),
    });
    world.snapshotEveryBytes = scenario.snapshotEveryBytes;
    world.onSynced = (path) => world.guard(() => this.watch.onSynced(path));
    world.onPrinted = (process, text) => this.checkPrinted(text, !this.#besides.has(process));
    service.service.holdSessions(scenario.rows);
    service.faults = scenario.faults;
    service.refuse = (number, area) => refuseNumber(number, area, timeline.nowMs);
    service.watch = {
      onLeave: (request, process) => world.guard(() => this.watch.onLeave(request, process)),
      onProcessed: (leave) => world.guard(() => leave && this.watch.onProcessed(leave as never)),
    };
  }

  async run(): Promise<Simulated> {
    const { service, lines: trace } = this.world;
    let lives = 0;
    for (const [index, mishap] of this.scenario.mishaps.entries()) {
      lives += 1;
      await this.live(mishap, true, index);
      if (this.#isDone) break;
    }
    this.endFaults();
    for (let more = 0; !this.#isDone; more++) {
      const { exitCode, error, stdout } = this.last ?? {};
      if (more === this.livesToFinish) throw new Violation(`the run does not end: ${exitCode} ${error} ${stdout}`);
      lives += 1;
      await this.live(undefined, false);
    }
    const { requests } = service;
    const again = await this.live(undefined, false);
    if (service.requests !== requests) throw new Violation('a finished run repeated sends');
    await this.end();
    const inDoubt = checkAccount(this.world.disk, this.scenario, service.service);
    checkRepeated(again, inDoubt);
    const known = inDoubt.filter((row) => !service.unknowable.has(row));
    if (known.length > 0 && !this.mayLoseCauses) throw new Violation(`in doubt without a cause: ${known.join(', ')}`);
    return { traceDigest: this.world.digest, trace, lives, requests, inDoubt: inDoubt.length };
  }

  /** Without mishaps and faults a run must come to its end in so many lives: 75 for a breaker that is still open, a lock … */
  protected readonly livesToFinish: number = 5;

  /** Whether rows may be in doubt for another reason than those that are noted. */
  protected get mayLoseCauses(): boolean {
    return this.scenario.rival !== undefined;
  }

  protected endFaults(): void {
    this.world.service.faults = {};
  }

  /** Once the job is finished. */
  protected async end(): Promise<void> {}

  protected checkPrinted(text: string, isAlone: boolean): void {
    const { scenario, watch } = this;
    const { disk, service, guard } = this.world;
    guard(() => checkPrinted(text, { isAlone }, { disk, scenario, service: service.service, watch }));
  }

  get #isDone(): boolean {
    return this.last?.exitCode !== undefined && [0, 1, 3].includes(this.last.exitCode);
  }

  /** One life of the first runner, with that of its rival beside it, to the end of both. `_index`: of its mishap. */
  protected async live(mishap: Mishap | undefined, hasRival: boolean, _index?: number): Promise<Process> {
    const first = this.#start('node-a', mishap);
    const others = hasRival ? this.#scheduleRivals(first) : [];
    await this.world.runUntil(() => first.isOver && others.every((other) => other.isOver));
    for (const process of [first, ...others]) this.noteEnd(process);
    await this.wait(first);
    await checkSnapshots(this.world.disk);
    this.last = first;
    return first;
  }

  /** Until the next life. */
  protected async wait(_first: Process): Promise<void> {
    await this.world.pass(BETWEEN_LIVES_MS);
  }

  /** As long as the first process lives, others try to take its job, one after the other: those that have started. */
  #scheduleRivals(first: Process): readonly Process[] {
    const { rival } = this.scenario;
    const started: Process[] = [];
    if (rival === undefined) return started;
    const challenge = (attempt: number) => {
      if (first.isOver || attempt > 6) return;
      started.push(this.#start(rival.isOnSameHost ? 'node-a' : 'node-b', attempt === 0 ? rival.mishap : undefined));
      this.world.timeline.schedule(25_000, () => challenge(attempt + 1));
    };
    this.world.timeline.schedule(rival.delayMs, () => challenge(0));
    return started;
  }

  #start(host: Host, mishap: Mishap | undefined): Process {
    const others = this.world.processes.filter(({ isAlive }) => isAlive);
    const process = this.world.start({ host, mishap, skewMs: this.scenario.skewMs[host] }, (terminal) =>
      runLoadedJob(this.scenario.job, { json: true }, terminal),
    );
    if (others.length > 0) for (const each of [...others, process]) this.#besides.add(each);
    return process;
  }

  protected noteEnd(process: Process): void {
    checkEnd(process, this.scenario);
    this.#noteOpenRows();
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
