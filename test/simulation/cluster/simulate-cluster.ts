// Loaded beforehand, as all that a process loads in the middle of its work.
import '../../../src/command/open-cluster.js';
import { ServiceError, UserError } from '../../../src/domain/errors.js';
import { isRowStep } from '../../../src/job/job.js';
import { createRandom } from '../../../src/sandbox/random.js';
import { runLoadedJob } from '../../command/give-verb.js';
import { checkAccount, listInDoubt } from '../account.js';
import { checkEnd, checkRepeated } from '../check-end.js';
import { CrashDisk } from '../crash-disk.js';
import { Guard } from '../guard.js';
import { checkPrinted } from '../life-account.js';
import { readPlannedRows } from '../planned-rows.js';
import { scheduleRivals } from '../rivals.js';
import { RunWatch } from '../run-watch.js';
import type { Mishap } from '../scenario.js';
import { Runner, type Stage } from '../sim-process.js';
import { NO_FAULTS, SimService } from '../sim-service.js';
import { checkSnapshots } from '../snapshots.js';
import { Subjects } from '../subject.js';
import { Timeline } from '../timeline.js';
import { Trace } from '../trace.js';
import { Violation } from '../watch.js';
import { AttemptWatch, type LostRows } from './attempt-watch.js';
import {
  type ClusterScenario,
  createClusterScenario,
  type DatabaseMishap,
  NO_CALL_FAULTS,
} from './cluster-scenario.js';
import { DatabaseMishaps } from './database-mishaps.js';
import { RateWatch } from './rate-watch.js';
import { SimDatabase } from './sim-database.js';
import { SimWorkers } from './sim-workers.js';

export interface SimulatedCluster {
  readonly traceDigest: string;
  readonly trace: readonly string[];
  readonly lives: number;
  readonly requests: number;
  readonly inDoubt: number;
  /** How often a leader refused to go on over a database that had lost something. */
  readonly refusals: number;
}

const LIVES_TO_FINISH = 6;
const DONE = new Set([0, 1, 3]);
const LOCK_MS = 61_000;
/** Of one life. */
const LONGEST_MS = 3_600_000;
const REFUSED = 4;

/**
 * Runs a job over a database with a leader and workers, on a simulated disk, clock, service and network, until it is finished,
 * through all that the seed has in store: processes that die, stop and leave, a database that goes away, restarts and forgets.
 * Throws a Violation where a promise does not hold.
 */
export async function simulateCluster(seed: number, { keepTrace = false } = {}): Promise<SimulatedCluster> {
  const simulation = new ClusterSimulation(seed, keepTrace);
  try {
    return await simulation.run();
  } catch (error) {
    throw Object.assign(error as Error, { trace: simulation.trace.lines });
  }
}

class ClusterSimulation {
  readonly trace: Trace;
  readonly #scenario: ClusterScenario;
  readonly #stage: Stage;
  readonly #database: SimDatabase;
  readonly #databaseMishaps: DatabaseMishaps;
  readonly #watch: RunWatch;
  readonly #leaders: Runner[] = [];
  readonly #workers: SimWorkers;
  readonly #unknowable = new Set<string>();
  readonly #guard = new Guard();
  #nextPid = 100;
  #refusals = 0;
  /** By the operator. */
  #isDropping = false;
  #last: Runner | undefined;

  constructor(seed: number, keepTrace: boolean) {
    this.trace = new Trace(keepTrace);
    this.#scenario = createClusterScenario(createRandom(seed, 1));
    const { base, callFaults, databaseSkewMs } = this.#scenario;
    const timeline = new Timeline(createRandom(seed, 2));
    const disk = new CrashDisk(base.files);
    const trace = (line: string) => this.trace.note(`${Math.round(timeline.nowMs)} ${line}`);
    const subjects = new Subjects(base);
    const rates = new RateWatch(base.job.steps.filter(isRowStep));
    const service: SimService = new SimService(timeline, createRandom(seed, 3), {
      trace,
      onUnknown: (row) => this.#unknowable.add(row),
      subjectOf: (call) => subjects.of(call),
      onLeave: (call, subject, process) => {
        trace(`${process.name} sends`);
        return (
          this.#guard.watch(() => {
            rates.onLeave(subject, timeline.nowMs);
            return watch.onLeave(call, subject, process);
          }) ?? { subject, entry: undefined }
        );
      },
      onProcessed: (leave) => this.#guard.watch(() => watch.onProcessed(leave)),
    });
    const random = createRandom(seed, 4);
    const watch = new RunWatch(disk, base, service.ledger);
    this.#watch = watch;
    this.#database = new SimDatabase(timeline, createRandom(seed, 5), {
      skewMs: databaseSkewMs,
      trace,
      onAsked: (runner) => this.#leaders.includes(runner) && attempts.noteLed(),
      onCall: (method, args, runner) =>
        this.#guard.watch(() => {
          for (const lost of attempts.noteCall(method, args, runner)) this.#noteUnknowable(lost);
        }),
    });
    this.#database.faults = callFaults;
    const leaseMs = this.#scenario.leaseSeconds * 1000;
    const attempts = new AttemptWatch(this.#database, { leaseMs, now: () => timeline.nowMs });
    watch.attemptOf = ({ step, rows, process }) => attempts.take(step, rows, process as Runner);
    const told = { disk, scenario: base, ledger: service.ledger, watch };
    this.#stage = {
      ...{ timeline, disk, service, random, scenario: base, trace },
      connect: this.#database.connect,
      onSynced: (path) => this.#guard.watch(() => watch.onSynced(path)),
      // Workers change what the service knows; another leader, what the journal says.
      onPrinted: (runner, text) => {
        if (this.#leaders.includes(runner))
          this.#guard.watch(() => checkPrinted(text, { isAlone: this.#isAlone }, told));
      },
      cutPower: () => {
        for (const runner of this.#leaders) runner.die('power cut');
        disk.cutPower(random);
      },
      isAlive: (pid) => this.#processes.some((runner) => runner.pid === pid && runner.isAlive),
    };
    service.faults = base.faults;
    this.#databaseMishaps = new DatabaseMishaps(this.#database, this.#stage, () => this.#processes);
    this.#workers = new SimWorkers(this.#stage, this.#scenario, {
      nextPid: () => this.#nextPid++,
      onEnd: (worker) => this.#guard.watch(() => this.#noteWorkerEnd(worker)),
    });
  }

  get #processes(): readonly Runner[] {
    return [...this.#leaders, ...this.#workers.all];
  }

  /** A standby has lost commits, or the operator dropped the run: rows may be in doubt for it. */
  get #wasForgotten(): boolean {
    return this.#databaseMishaps.hasLostCommits || this.#refusals > 0;
  }

  /** By then every lease is over, by any clock. */
  get #longMs(): number {
    const { 'node-a': one, 'node-b': other } = this.#scenario.base.skewMs;
    return LOCK_MS + Math.abs(one) + Math.abs(other);
  }

  get #hasOneHost(): boolean {
    return this.#scenario.base.rival?.isOnSameHost !== false;
  }

  get #isAlone(): boolean {
    return this.#leaders.filter(({ isAlive }) => isAlive).length === 1;
  }

  async run(): Promise<SimulatedCluster> {
    const { base, databaseMishaps } = this.#scenario;
    const { service, disk } = this.#stage;
    this.#workers.start();
    let lives = 0;
    for (const [index, mishap] of base.mishaps.entries()) {
      lives += 1;
      await this.#live(mishap, { databaseMishaps: databaseMishaps[index] ?? [], hasRival: base.rival !== undefined });
      if (this.#isDone) break;
    }
    service.faults = NO_FAULTS;
    this.#database.faults = NO_CALL_FAULTS;
    this.#workers.endMishaps();
    for (let more = 0; !this.#isDone; more++) {
      if (more === LIVES_TO_FINISH) {
        const { exitCode, error, stdout } = this.#last ?? {};
        throw new Violation(`the run does not end: ${exitCode} ${error} ${stdout}`);
      }
      lives += 1;
      await this.#live(undefined, { databaseMishaps: [], hasRival: false });
    }
    const before = service.ledger.requests;
    const again = await this.#live(undefined, { databaseMishaps: [], hasRival: false });
    if (service.ledger.requests !== before) throw new Violation('a finished run repeated sends');
    const left = this.#workers.dismiss();
    await this.#runUntil(() => left.every(({ isOver }) => isOver));
    checkAccount(disk, base, service.ledger);
    const inDoubt = listInDoubt(disk, base);
    checkRepeated(again, inDoubt);
    this.#checkCauses(inDoubt);
    const { parts, attempts } = this.#database.cluster.count();
    // A standby may have a run again that was dropped; no one leads it, and nothing of it is claimed.
    if (parts + attempts > 0 && !this.#wasForgotten)
      throw new Violation(`${parts} parts and ${attempts} attempts stay in the database`);
    const { digest: traceDigest, lines: trace } = this.trace;
    return { traceDigest, trace, lives, requests: before, inDoubt: inDoubt.length, refusals: this.#refusals };
  }

  get #isDone(): boolean {
    return this.#last?.exitCode !== undefined && DONE.has(this.#last.exitCode);
  }

  #checkCauses(inDoubt: readonly string[]): void {
    if (this.#wasForgotten || this.#scenario.base.rival !== undefined) return;
    const known = inDoubt.filter((row) => !this.#unknowable.has(row));
    if (known.length > 0) throw new Violation(`in doubt without a cause: ${known.join(', ')}`);
  }

  /** One life of a leader, and of its rivals, to the end of all. */
  async #live(
    mishap: Mishap | undefined,
    { databaseMishaps, hasRival }: { databaseMishaps: readonly DatabaseMishap[]; hasRival: boolean },
  ): Promise<Runner> {
    const { timeline, random } = this.#stage;
    this.#databaseMishaps.schedule(databaseMishaps);
    const first = this.#startLeader('node-a', mishap);
    const rival = hasRival ? this.#scenario.base.rival : undefined;
    const others = scheduleRivals(timeline, first, rival, (host, its) => this.#startLeader(host, its));
    await this.#runUntil(() => first.isOver && others.every((other) => other.isOver));
    for (const runner of [first, ...others]) this.#noteEnd(runner);
    // As the command does: again, until leases of what is under way have ended.
    while (this.#isDropping && !this.#database.cluster.dropAll()) await this.#wait(1000);
    this.#isDropping = false;
    // A lock of the same host is free at once.
    const isLocked = first.error instanceof UserError && first.error.code === 'lock-held';
    const isShort = this.#hasOneHost && !isLocked && random() < 0.95;
    await this.#wait(isShort ? 200 + random() * 5_000 : this.#longMs);
    await checkSnapshots(this.#stage.disk);
    this.#last = first;
    return first;
  }

  #runUntil(isOver: () => boolean): Promise<void> {
    const { timeline } = this.#stage;
    const endMs = timeline.nowMs + LONGEST_MS;
    return timeline.runUntil(() => {
      if (timeline.nowMs > endMs) throw new Violation('no end: something waits for what will not come');
      this.#guard.assertNone();
      return isOver();
    });
  }

  async #wait(forMs: number): Promise<void> {
    let isLater = false;
    this.#stage.timeline.schedule(forMs, () => {
      isLater = true;
    });
    await this.#runUntil(() => isLater);
  }

  #startLeader(host: 'node-a' | 'node-b', mishap: Mishap | undefined): Runner {
    const { job, skewMs } = this.#scenario.base;
    const leader = new Runner(this.#stage, { pid: this.#nextPid++, host, mishap, skewMs: () => skewMs[host] });
    this.#leaders.push(leader);
    leader.start((terminal) => runLoadedJob(job, { json: true }, terminal));
    return leader;
  }

  #noteEnd(runner: Runner): void {
    const { error, exitCode } = runner;
    const isRefusal = error instanceof UserError && error.code === 'registry-mismatch';
    const mayRefuse = this.#wasForgotten || this.#databaseMishaps.wasRestarted;
    if (isRefusal && mayRefuse) this.#dropRun();
    checkEnd(
      runner,
      this.#scenario.base,
      () =>
        (isRefusal && exitCode === REFUSED && mayRefuse) ||
        (error instanceof ServiceError && error.code === 'unavailable' && this.#database.wasAway),
    );
  }

  /** What the refusal says to do. */
  #dropRun(): void {
    this.#refusals += 1;
    this.#isDropping = true;
  }

  #noteWorkerEnd({ name, error }: Runner): void {
    if (error === undefined) return;
    throw new Violation(`${name}, a worker, fails: ${error instanceof Error ? error.stack : error}`);
  }

  #noteUnknowable({ step, rows: [first, count] }: LostRows): void {
    const { directory } = this.#watch;
    if (directory === undefined) return;
    const { kind, planned } = readPlannedRows(this.#stage.disk, this.#scenario.base, directory)[step - 1]!;
    for (const row of planned.slice(first, first + count)) this.#unknowable.add(`${kind} ${row}`);
  }
}
