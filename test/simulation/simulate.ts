import { createRandom } from '../../src/sandbox/random.js';
import { runLoadedJob } from '../command/give-verb.js';
import { checkAccount, listInDoubt } from './account.js';
import { checkEnd, checkRepeated } from './check-end.js';
import { CrashDisk } from './crash-disk.js';
import { Guard } from './guard.js';
import { checkPrinted } from './life-account.js';
import { readPlannedRows } from './planned-rows.js';
import { scheduleRivals } from './rivals.js';
import { RunWatch } from './run-watch.js';
import { createScenario, type Host, MAX_SKEW_MS, type Mishap, type Scenario } from './scenario.js';
import { Runner, type Stage } from './sim-process.js';
import { NO_FAULTS, SimService } from './sim-service.js';
import { checkSnapshots } from './snapshots.js';
import { Subjects } from './subject.js';
import { Timeline } from './timeline.js';
import { Trace } from './trace.js';
import { entriesIn, Violation } from './watch.js';

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
/** Without mishaps and faults a run must come to its end in so many lives: 75 for a breaker that is still open, a lock … */
const LIVES_TO_FINISH = 5;
const DONE = new Set([0, 1, 3]);

/**
 * Runs a job on a simulated disk, clock and service until it is finished, through all that the seed has in store: kills,
 * power cuts, signals, a second runner, faults. Throws a Violation where a promise does not hold.
 */
export async function simulate(seed: number, { keepTrace = false } = {}): Promise<Simulated> {
  const simulation = new Simulation(seed, keepTrace);
  try {
    return await simulation.run();
  } catch (error) {
    throw Object.assign(error as Error, { trace: simulation.trace.lines });
  }
}

class Simulation {
  readonly trace: Trace;
  readonly #scenario: Scenario;
  readonly #stage: Stage;
  readonly #runners: Runner[] = [];
  /** Those that were alive at the same time as another. */
  readonly #besides = new Set<Runner>();
  /** Rows that no one can know of: `sms P7`. */
  readonly #unknowable = new Set<string>();
  readonly #guard = new Guard();
  #nextPid = 100;

  constructor(seed: number, keepTrace: boolean) {
    this.trace = new Trace(keepTrace);
    this.#scenario = createScenario(createRandom(seed, 1));
    const timeline = new Timeline(createRandom(seed, 2));
    const disk = new CrashDisk(this.#scenario.files);
    const trace = (line: string) => this.trace.note(`${Math.round(timeline.nowMs)} ${line}`);
    const subjects = new Subjects(this.#scenario);
    const service: SimService = new SimService(timeline, createRandom(seed, 3), {
      trace,
      onUnknown: (row) => this.#unknowable.add(row),
      subjectOf: (call) => subjects.of(call),
      onLeave: (call, subject, process) =>
        this.#guard.watch(() => watch.onLeave(call, subject, process)) ?? { subject, entry: undefined },
      onProcessed: (leave) => this.#guard.watch(() => watch.onProcessed(leave)),
    });
    const random = createRandom(seed, 4);
    const watch: RunWatch = new RunWatch(disk, this.#scenario, service.ledger);
    const told = { disk, scenario: this.#scenario, ledger: service.ledger, watch };
    this.#stage = {
      ...{ timeline, disk, service, random, scenario: this.#scenario, trace },
      onSynced: (path) => this.#guard.watch(() => watch.onSynced(path)),
      onPrinted: (runner, text) =>
        this.#guard.watch(() => checkPrinted(text, { isAlone: !this.#besides.has(runner) }, told)),
      cutPower: () => {
        for (const runner of this.#runners) runner.die('power cut');
        disk.cutPower(random);
      },
      isAlive: (pid) => this.#runners.some((runner) => runner.pid === pid && runner.isAlive),
    };
    service.faults = this.#scenario.faults;
  }

  async run(): Promise<Simulated> {
    const { mishaps, rival } = this.#scenario;
    const { service } = this.#stage;
    let lives = 0;
    let last: Runner | undefined;
    for (const mishap of mishaps) {
      lives += 1;
      last = await this.#live(mishap, rival !== undefined);
      if (last.exitCode !== undefined && DONE.has(last.exitCode)) break;
    }
    service.faults = NO_FAULTS;
    for (let more = 0; last?.exitCode === undefined || !DONE.has(last.exitCode); more++) {
      if (more === LIVES_TO_FINISH)
        throw new Violation(`the run does not end: ${last?.exitCode} ${last?.error} ${last?.stdout}`);
      lives += 1;
      last = await this.#live(undefined, false);
    }
    const before = service.ledger.requests;
    const again = await this.#live(undefined, false);
    if (service.ledger.requests !== before) throw new Violation('a finished run repeated sends');
    checkAccount(this.#stage.disk, this.#scenario, service.ledger);
    const inDoubt = listInDoubt(this.#stage.disk, this.#scenario);
    checkRepeated(again, inDoubt);
    if (rival === undefined) {
      const known = inDoubt.filter((row) => !this.#unknowable.has(row));
      if (known.length > 0) throw new Violation(`in doubt without a cause: ${known.join(', ')}`);
    }
    const { digest: traceDigest, lines: trace } = this.trace;
    return { traceDigest, trace, lives, requests: before, inDoubt: inDoubt.length };
  }

  /** One life of the first runner, with that of its rival beside it, to the end of both. */
  async #live(mishap: Mishap | undefined, hasRival: boolean): Promise<Runner> {
    const { timeline } = this.#stage;
    const first = this.#start('node-a', mishap);
    const rival = hasRival ? this.#scenario.rival : undefined;
    const others = scheduleRivals(timeline, first, rival, (host, its) => this.#start(host, its));
    await timeline.runUntil(() => {
      this.#guard.assertNone();
      return first.isOver && others.every((other) => other.isOver);
    });
    for (const runner of [first, ...others]) this.#noteEnd(runner);
    let isLater = false;
    timeline.schedule(BETWEEN_LIVES_MS, () => {
      isLater = true;
    });
    await timeline.runUntil(() => isLater);
    await checkSnapshots(this.#stage.disk);
    return first;
  }

  #start(host: Host, mishap: Mishap | undefined): Runner {
    const runner = new Runner(this.#stage, {
      ...{ pid: this.#nextPid++, host, mishap },
      skewMs: () => this.#scenario.skewMs[host],
    });
    const others = this.#runners.filter(({ isAlive }) => isAlive);
    if (others.length > 0) for (const each of [...others, runner]) this.#besides.add(each);
    this.#runners.push(runner);
    runner.start((terminal) => runLoadedJob(this.#scenario.job, { json: true }, terminal));
    return runner;
  }

  #noteEnd(runner: Runner): void {
    checkEnd(runner, this.#scenario);
    this.#noteOpenRows();
  }

  /** Rows of intents without an outcome when a process is gone: they may have been sent. */
  #noteOpenRows(): void {
    const { disk } = this.#stage;
    if (!disk.volume.existsSync('/out/sim')) return;
    for (const name of disk.volume.readdirSync('/out/sim').map(String)) {
      const path = `/out/sim/${name}/journal.ndjson`;
      if (!disk.volume.existsSync(path)) continue;
      const steps = readPlannedRows(disk, this.#scenario, `/out/sim/${name}`);
      const open = new Map<string, { step: number; rows: readonly [number, number] }>();
      for (const entry of entriesIn(disk.volume.readFileSync(path) as Buffer)) {
        if (entry.type === 'intent') open.set(`${entry.step}-${entry.request}-${entry.part}`, entry);
        if (entry.type === 'outcome') open.delete(`${entry.step}-${entry.request}-${entry.part}`);
      }
      for (const { step, rows } of open.values()) {
        const { kind, planned } = steps[step - 1]!;
        for (const row of planned.slice(rows[0], rows[0] + rows[1])) this.#unknowable.add(`${kind} ${row}`);
      }
    }
  }
}
