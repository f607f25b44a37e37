import { runLoadedWorker } from '../../cluster/a-worker.js';
import type { Process } from '../../world/process.js';
import type { World } from '../../world/world.js';
import type { ClusterScenario, WorkerMishap } from './cluster-scenario.js';

/** The workers, one on each host: when one ends, another starts. */
export class SimWorkers {
  readonly #world: World;
  readonly #scenario: ClusterScenario;
  readonly #onEnd: (worker: Process) => void;
  #mishaps: (WorkerMishap | undefined)[];
  /** No worker takes the place of one that ends. */
  #isOver = false;

  constructor(world: World, scenario: ClusterScenario, onEnd: (worker: Process) => void) {
    this.#world = world;
    this.#scenario = scenario;
    this.#onEnd = onEnd;
    this.#mishaps = [...scenario.workerMishaps];
  }

  start(): void {
    for (const [index] of this.#scenario.workerSkewsMs.entries()) this.#employ(index);
  }

  endMishaps(): void {
    this.#mishaps = [];
  }

  /** All get SIGTERM, and none takes their place; those that have to end. */
  dismiss(): readonly Process[] {
    this.#isOver = true;
    const left = this.#world.processes.filter(({ isAlive, isOnDisk }) => isAlive && !isOnDisk);
    for (const worker of left) worker.terminate();
    return left;
  }

  #employ(index: number): void {
    const { timeline, random } = this.#world;
    const { base, workerSkewsMs } = this.#scenario;
    const mishap = this.#mishaps.shift();
    const worker = this.#world.start(
      {
        ...{ host: `worker-${index}`, skewMs: workerSkewsMs[index] ?? 0, isElsewhere: true },
        mishap: mishap !== undefined && 'after' in mishap ? mishap : undefined,
        onOver: () => {
          this.#onEnd(worker);
          if (!this.#isOver) timeline.schedule(100 + random() * 5_000, () => this.#isOver || this.#employ(index));
        },
      },
      (terminal) => runLoadedWorker(base.job, terminal),
    );
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
  }
}
