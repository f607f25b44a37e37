// Loaded beforehand, as all that a process loads in the middle of its work.
import '../../../src/commands/cluster/open-cluster.js';
import type { WorkerEntry, WorkerKey } from '../../../src/cluster/store.js';
import { workForRuns } from '../../../src/commands/cluster/work-for-runs.js';
import { runLoadedJob } from '../../../src/commands/run-job.js';
import { InternalError, ServiceError, UserError } from '../../../src/domain/errors.js';
import { isRowStep } from '../../../src/job/job.js';
import { createRandom } from '../../../src/sandbox/random.js';
import { checkAccount, listInDoubt } from '../account.js';
import { CrashDisk } from '../crash-disk.js';
import { checkPrinted, exitCodeOfPrinted, parsePrinted } from '../life-account.js';
import { readPlannedRows } from '../planned-rows.js';
import { RunWatch } from '../run-watch.js';
import type { Mishap } from '../scenario.js';
import { Runner, type Stage } from '../sim-process.js';
import { NO_FAULTS, SimService } from '../sim-service.js';
import { checkSnapshots } from '../snapshots.js';
import { Subjects } from '../subject.js';
import { Timeline } from '../timeline.js';
import { Violation } from '../watch.js';
import { AttemptWatch } from './attempt-watch.js';
import {
  type ClusterScenario,
  createClusterScenario,
  type DatabaseMishap,
  NO_CALL_FAULTS,
  type WorkerMishap,
} from './cluster-scenario.js';
import { RateWatch } from './rate-watch.js';
import { SimDatabase } from './sim-database.js';

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
    throw Object.assign(error as Error, { trace: simulation.trace });
  }
}

class ClusterSimulation {
  readonly trace: string[] = [];
  readonly #keepTrace: boolean;
  readonly #scenario: ClusterScenario;
  readonly #stage: Stage;
  readonly #database: SimDatabase;
  readonly #watch: RunWatch;
  readonly #leaders: Runner[] = [];
  readonly #workers: Runner[] = [];
  readonly #unknowable = new Set<string>();
  #workerMishaps: (WorkerMishap | undefined)[];
  #digest = 0;
  #violation: Violation | undefined;
  #nextPid = 100;
  /** No worker takes the place of one that ends. */
  #isOver = false;
  /** A standby has lost commits, or the operator dropped the run: rows may be in doubt for it. */
  #wasForgotten = false;
  /** Then a leader that finds less than it wrote down cannot know whether commits were lost. */
  #wasRestarted = false;
  #refusals = 0;
  /** By the operator. */
  #isDropping = false;
  #last: Runner | undefined;

  constructor(seed: number, keepTrace: boolean) {
    this.#keepTrace = keepTrace;
    this.#scenario = createClusterScenario(createRandom(seed, 1));
    const { base, callFaults, databaseSkewMs, workerMishaps } = this.#scenario;
    this.#workerMishaps = [...workerMishaps];
    const timeline = new Timeline(createRandom(seed, 2));
    const disk = new CrashDisk(base.files);
    const trace = (line: string) => this.#note(`${Math.round(timeline.nowMs)} ${line}`);
    const subjects = new Subjects(base);
    const rates = new RateWatch(base.job.steps.filter(isRowStep));
    const service: SimService = new SimService(timeline, createRandom(seed, 3), {
      trace,
      onUnknown: (row) => this.#unknowable.add(row),
      subjectOf: (call) => subjects.of(call),
      onLeave: (call, subject, process) => {
        trace(`${process.name} sends`);
        return (
          this.#guard(() => {
            rates.onLeave(subject, timeline.nowMs);
            return watch.onLeave(call, subject, process);
          }) ?? { subject, entry: undefined }
        );
      },
      onProcessed: (leave) => this.#guard(() => watch.onProcessed(leave)),
    });
    const random = createRandom(seed, 4);
    const watch = new RunWatch(disk, base, service.ledger);
    this.#watch = watch;
    this.#database = new SimDatabase(timeline, createRandom(seed, 5), {
      skewMs: databaseSkewMs,
      trace,
      onAsked: (runner) => this.#leaders.includes(runner) && attempts.noteLed(),
      onCall: (method, args, runner) =>
        this.#guard(() => {
          if (method === 'beat') attempts.noteBeat(args[0] as string);
          if (method === 'leave') attempts.noteLeave(args[0] as string);
          if (method === 'append') attempts.noteAppended(args[0] as WorkerKey, args[1] as WorkerEntry[], runner);
          if (method === 'recover') for (const lost of attempts.listRecovered()) this.#noteUnknowable(lost);
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
      onSynced: (path) => this.#guard(() => watch.onSynced(path)),
      // Workers change what the service knows; another leader, what the journal says.
      onPrinted: (runner, text) => {
        if (this.#leaders.includes(runner)) this.#guard(() => checkPrinted(text, { isAlone: this.#isAlone }, told));
      },
      cutPower: () => {
        for (const runner of this.#leaders) runner.die('power cut');
        disk.cutPower(random);
      },
      isAlive: (pid) => [...this.#leaders, ...this.#workers].some((runner) => runner.pid === pid && runner.isAlive),
    };
    service.faults = base.faults;
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
    for (const [index] of this.#scenario.workerSkewsMs.entries()) this.#employ(index);
    let lives = 0;
    for (const [index, mishap] of base.mishaps.entries()) {
      lives += 1;
      await this.#live(mishap, { databaseMishaps: databaseMishaps[index] ?? [], hasRival: base.rival !== undefined });
      if (this.#isDone) break;
    }
    service.faults = NO_FAULTS;
    this.#database.faults = NO_CALL_FAULTS;
    this.#workerMishaps = [];
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
    if (again.error !== undefined) throw new Violation(`a finished run repeated fails: ${again.error}`);
    if (service.ledger.requests !== before) throw new Violation('a finished run repeated sends');
    await this.#dismissWorkers();
    checkAccount(disk, base, service.ledger);
    this.#checkDoubt(again);
    const { parts, attempts } = this.#database.cluster.count();
    // A standby may have a run again that was dropped; no one leads it, and nothing of it is claimed.
    if (parts + attempts > 0 && !this.#wasForgotten)
      throw new Violation(`${parts} parts and ${attempts} attempts stay in the database`);
    const traceDigest = (this.#digest >>> 0).toString(16).padStart(8, '0');
    const inDoubt = listInDoubt(disk, base).length;
    return { traceDigest, trace: this.trace, lives, requests: before, inDoubt, refusals: this.#refusals };
  }

  get #isDone(): boolean {
    return this.#last?.exitCode !== undefined && DONE.has(this.#last.exitCode);
  }

  #checkDoubt(again: Runner): void {
    const inDoubt = listInDoubt(this.#stage.disk, this.#scenario.base);
    const { state, openDoubt } = parsePrinted(again.stdout);
    if (state !== 'nothing-new' || openDoubt.rows !== inDoubt.length) {
      throw new Violation(`a finished run repeated is ${state}, with ${openDoubt.rows} of ${inDoubt.length} in doubt`);
    }
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
    for (const each of databaseMishaps) timeline.schedule(each.atMs, () => this.#disturb(each));
    const first = this.#startLeader('node-a', mishap);
    const others: Runner[] = [];
    const { rival } = this.#scenario.base;
    if (hasRival && rival !== undefined) {
      const challenge = (attempt: number) => {
        if (first.isOver || attempt > 6) return;
        const host = rival.isOnSameHost ? 'node-a' : 'node-b';
        others.push(this.#startLeader(host, attempt === 0 ? rival.mishap : undefined));
        timeline.schedule(25_000, () => challenge(attempt + 1));
      };
      timeline.schedule(rival.delayMs, () => challenge(0));
    }
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
      if (this.#violation !== undefined) throw this.#violation;
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
    leader.start((terminal) => runLoadedJob(job, { again: false, json: true }, terminal));
    return leader;
  }

  /** Keeps a worker on its host: when one ends, another starts. */
  #employ(index: number): void {
    const { timeline, random } = this.#stage;
    const { leaseSeconds, workerSkewsMs } = this.#scenario;
    const mishap = this.#workerMishaps.shift();
    const worker = new Runner(this.#stage, {
      ...{ pid: this.#nextPid++, host: `worker-${index}`, skewMs: () => workerSkewsMs[index] ?? 0 },
      mishap: mishap !== undefined && 'afterOperations' in mishap ? mishap : undefined,
      onOver: () => {
        this.#guard(() => this.#noteWorkerEnd(worker));
        if (!this.#isOver) timeline.schedule(100 + random() * 5_000, () => this.#isOver || this.#employ(index));
      },
    });
    this.#workers.push(worker);
    if (mishap !== undefined && 'afterMs' in mishap) {
      timeline.schedule(
        mishap.afterMs,
        () => {
          if (mishap.kind === 'kill') worker.die('kill -9');
          else if (mishap.kind === 'signal') worker.terminate();
          else worker.stop(random() * 60_000);
        },
        worker,
      );
    }
    const database = { env: 'VOLLEY_DATABASE_URL' };
    const until = { untilDone: false, untilIdleMs: undefined };
    const flags = {
      database,
      run: undefined,
      ...until,
      leaseSeconds,
      allowUrls: [],
      allowSecrets: ['KEY'],
      json: true,
    };
    worker.start((terminal) => workForRuns(flags, terminal));
  }

  async #dismissWorkers(): Promise<void> {
    this.#isOver = true;
    const left = this.#workers.filter(({ isAlive }) => isAlive);
    for (const worker of left) worker.terminate();
    await this.#runUntil(() => left.every(({ isOver }) => isOver));
  }

  #disturb(mishap: DatabaseMishap): void {
    const { cluster } = this.#database;
    if (mishap.kind === 'partition') {
      const all = [...this.#leaders, ...this.#workers].filter(({ isAlive }) => isAlive);
      const runner = all[mishap.process % Math.max(1, all.length)];
      if (runner !== undefined) this.#database.cutOff(runner, mishap.forMs);
    } else if (mishap.kind !== 'promotion') {
      this.#database.goAway(mishap.forMs, () => mishap.kind === 'restart' && this.#restart());
    } else {
      const standby = cluster.copyStandby();
      this.#stage.timeline.schedule(mishap.lagMs, () => {
        this.#wasForgotten = true;
        this.#database.goAway(mishap.forMs, () => {
          this.#note(
            `${Math.round(this.#stage.timeline.nowMs)} a standby takes over, ${Math.round(mishap.lagMs)} ms behind`,
          );
          standby.promote();
        });
      });
    }
  }

  #restart(): void {
    this.#wasRestarted = true;
    this.#database.cluster.restart();
  }

  #noteEnd({ error, name, exitCode, stdout }: Runner): void {
    const isRefusal = error instanceof UserError && error.code === 'registry-mismatch';
    const mayRefuse = this.#wasForgotten || this.#wasRestarted;
    if (isRefusal && mayRefuse) this.#dropRun();
    const isExpected =
      error === undefined ||
      (isRefusal && exitCode === REFUSED && mayRefuse) ||
      (error instanceof UserError && ['lock-held', 'interrupted'].includes(error.code)) ||
      (error instanceof InternalError && error.code === 'write-failed') ||
      (error instanceof ServiceError && error.code === 'unavailable' && this.#database.wasAway) ||
      isDiskError(error, 'ENOSPC') ||
      (this.#scenario.base.rival !== undefined && isDiskError(error, 'ENOENT'));
    if (!isExpected) throw new Violation(`${name} fails: ${error instanceof Error ? error.stack : error}`);
    if (exitCode === undefined || error !== undefined) return;
    const expected = exitCodeOfPrinted(stdout, this.#scenario.base);
    if (exitCode !== expected)
      throw new Violation(`${name} ends with ${exitCode}, what it prints calls for ${expected}`);
  }

  /** What the refusal says to do. */
  #dropRun(): void {
    this.#refusals += 1;
    this.#wasForgotten = true;
    this.#isDropping = true;
  }

  #noteWorkerEnd({ name, error }: Runner): void {
    if (error === undefined) return;
    throw new Violation(`${name}, a worker, fails: ${error instanceof Error ? error.stack : error}`);
  }

  #noteUnknowable({ step, rows: [first, count] }: { step: number; rows: readonly [number, number] }): void {
    const { directory } = this.#watch;
    if (directory === undefined) return;
    const { kind, planned } = readPlannedRows(this.#stage.disk, this.#scenario.base, directory)[step - 1]!;
    for (const row of planned.slice(first, first + count)) this.#unknowable.add(`${kind} ${row}`);
  }

  #guard<T>(check: () => T): T | undefined {
    try {
      return check();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.#violation ??= error;
      return undefined;
    }
  }

  #note(line: string): void {
    for (let at = 0; at < line.length; at++) this.#digest = (Math.imul(this.#digest, 31) + line.charCodeAt(at)) | 0;
    if (this.#keepTrace) this.trace.push(line);
  }
}

function isDiskError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
