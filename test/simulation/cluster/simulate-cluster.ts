// Loaded beforehand, as all that a process loads in the middle of its work.
import '../../../src/command/open-cluster.js';
import { ServiceError, UserError } from '../../../src/domain/errors.js';
import { createRandom } from '../../../src/sandbox/random.js';
import type { Mishap, Process } from '../../world/process.js';
import { Violation } from '../../world/violation.js';
import { World } from '../../world/world.js';
import { checkEnd } from '../check-end.js';
import { subjectOf } from '../run-watch.js';
import { type Simulated, Simulation, withTrace } from '../simulate.js';
import { AttemptWatch } from './attempt-watch.js';
import { type ClusterScenario, createClusterScenario, NO_CALL_FAULTS } from './cluster-scenario.js';
import { DatabaseMishaps } from './database-mishaps.js';
import { RateWatch } from './rate-watch.js';
import { SimDatabase } from './sim-database.js';
import { SimWorkers } from './sim-workers.js';

export interface SimulatedCluster extends Simulated {
  /** How often a leader refused to go on over a database that had lost something. */
  readonly refusals: number;
}

const LOCK_MS = 61_000;
/** Of one life. */
const LONGEST_MS = 3_600_000;
const REFUSED = 4;

/**
 * Runs a job over a database with a leader and workers, on a simulated disk, clock, service and network, until it is finished,
 * through all that the seed has in store: processes that die, stop and leave, a database that goes away, restarts and forgets.
 * Throws a Violation where a promise does not hold.
 */
export function simulateCluster(seed: number, { keepTrace = false } = {}): Promise<SimulatedCluster> {
  const scenario = createClusterScenario(createRandom(seed, 1));
  const simulation = new ClusterSimulation(scenario, new World(seed, keepTrace), createRandom(seed, 5));
  return withTrace(simulation.world, async () => ({ ...(await simulation.run()), refusals: simulation.refusals }));
}

class ClusterSimulation extends Simulation {
  refusals = 0;
  protected override readonly livesToFinish = 6;
  readonly #cluster: ClusterScenario;
  readonly #database: SimDatabase;
  readonly #databaseMishaps: DatabaseMishaps;
  readonly #workers: SimWorkers;
  /** By the operator. */
  #isDropping = false;
  /** At the end of the last wait. */
  #powerCuts = 0;

  constructor(cluster: ClusterScenario, world: World, random: () => number) {
    super(cluster.base, world, []);
    this.#cluster = cluster;
    const { timeline, guard, trace, service } = world;
    this.#database = new SimDatabase(timeline, random, {
      skewMs: cluster.databaseSkewMs,
      trace,
      onAsked: (name, process) => process.isOnDisk && name !== 'standBy' && attempts.noteLed(),
      onCall: (method, args, process) =>
        guard(() => {
          const lost = attempts.noteCall(method, args, process);
          for (const { step, rows } of lost) this.noteUnknowable(step, rows);
        }),
    });
    const leaseMs = cluster.leaseSeconds * 1000;
    const attempts = new AttemptWatch(this.#database, { leaseMs, now: () => timeline.nowMs });
    this.#database.faults = cluster.callFaults;
    this.watch.attemptOf = ({ step, rows, process }) => attempts.take(step, rows, process as Process);
    world.connect = this.#database.connect;
    const rates = new RateWatch(cluster.base.job);
    const { onLeave } = service.watch;
    service.watch.onLeave = (request, process) => {
      trace(`${process.name} sends`);
      guard(() => rates.onLeave(subjectOf(request, this.scenario), timeline.nowMs));
      return onLeave(request, process);
    };
    this.#databaseMishaps = new DatabaseMishaps(this.#database, world);
    this.#workers = new SimWorkers(world, cluster, (worker) => guard(() => noteWorkerEnd(worker)));
    this.#workers.start();
  }

  /** A standby has lost commits, or the operator dropped the run: rows may be in doubt for it. */
  get #wasForgotten(): boolean {
    return this.#databaseMishaps.hasLostCommits || this.refusals > 0;
  }

  protected override get mayLoseCauses(): boolean {
    return this.#wasForgotten || super.mayLoseCauses;
  }

  /** Workers print nothing of the run; another leader changes what the journal says. */
  protected override checkPrinted(text: string): void {
    const leaders = this.world.processes.filter(({ isOnDisk, isAlive }) => isOnDisk && isAlive);
    super.checkPrinted(text, leaders.length === 1);
  }

  protected override endFaults(): void {
    super.endFaults();
    this.#database.faults = NO_CALL_FAULTS;
    this.#workers.endMishaps();
  }

  protected override async end(): Promise<void> {
    const left = this.#workers.dismiss();
    await this.world.runUntil(() => left.every(({ isOver }) => isOver));
    const { parts, attempts } = this.#database.cluster.count();
    // A standby may have a run again that was dropped; no one leads it, and nothing of it is claimed.
    if (parts + attempts > 0 && !this.#wasForgotten)
      throw new Violation(`${parts} parts and ${attempts} attempts stay in the database`);
  }

  protected override live(mishap: Mishap | undefined, hasRival: boolean, index?: number): Promise<Process> {
    this.world.endMs = this.world.timeline.nowMs + LONGEST_MS;
    this.#databaseMishaps.schedule(index === undefined ? [] : (this.#cluster.databaseMishaps[index] ?? []));
    return super.live(mishap, hasRival, index);
  }

  protected override async wait(first: Process): Promise<void> {
    // As the command does: again, until leases of what is under way have ended.
    while (this.#isDropping && !this.#database.cluster.dropAll()) await this.world.pass(1000);
    this.#isDropping = false;
    const { rival, skewMs } = this.scenario;
    // A lock of the same host is free at once, unless its power was cut since; another one by the end of every lease, by any clock.
    const { powerCuts } = this.world.disk;
    const wasRivalCut = first.exitCode !== undefined && powerCuts > this.#powerCuts;
    this.#powerCuts = powerCuts;
    const isLocked = wasRivalCut || (first.error instanceof UserError && first.error.code === 'lock-held');
    const isShort = rival?.isOnSameHost !== false && !isLocked && this.world.random() < 0.95;
    const longMs = LOCK_MS + Math.abs(skewMs['node-a']) + Math.abs(skewMs['node-b']);
    await this.world.pass(isShort ? 200 + this.world.random() * 5_000 : longMs);
  }

  protected override noteEnd(process: Process): void {
    const { error, exitCode } = process;
    const isRefusal = error instanceof UserError && error.code === 'registry-mismatch';
    const mayRefuse = this.#wasForgotten || this.#databaseMishaps.wasRestarted;
    if (isRefusal && mayRefuse) {
      // What the refusal says to do.
      this.refusals += 1;
      this.#isDropping = true;
    }
    checkEnd(
      process,
      this.scenario,
      () =>
        (isRefusal && exitCode === REFUSED && mayRefuse) ||
        (error instanceof ServiceError && error.code === 'unavailable' && this.#database.wasAway),
    );
  }
}

function noteWorkerEnd({ name, error }: Process): void {
  if (error === undefined) return;
  throw new Violation(`${name}, a worker, fails: ${error instanceof Error ? error.stack : error}`);
}
