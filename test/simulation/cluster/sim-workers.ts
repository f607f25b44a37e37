import { runWorker } from '../../cluster/a-worker.js';
import { Runner, type Stage } from '../sim-process.js';
import type { ClusterScenario, WorkerMishap } from './cluster-scenario.js';

/** The workers, one on each host: when one ends, another starts. */
export class SimWorkers {
  readonly all: Runner[] = [];
  readonly #stage: Stage;
  readonly #scenario: ClusterScenario;
  readonly #nextPid: () => number;
  readonly #onEnd: (worker: Runner) => void;
  #mishaps: (WorkerMishap | undefined)[];
  /** No worker takes the place of one that ends. */
  #isOver = false;

  constructor(
    stage: Stage,
    scenario: ClusterScenario,
    { nextPid, onEnd }: { nextPid: () => number; onEnd: (worker: Runner) => void },
  ) {
    this.#stage = stage;
    this.#scenario = scenario;
    this.#nextPid = nextPid;
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
  dismiss(): readonly Runner[] {
    this.#isOver = true;
    const left = this.all.filter(({ isAlive }) => isAlive);
    for (const worker of left) worker.terminate();
    return left;
  }

  #employ(index: number): void {
    const { timeline, random } = this.#stage;
    const { leaseSeconds, workerSkewsMs } = this.#scenario;
    const mishap = this.#mishaps.shift();
    const worker = new Runner(this.#stage, {
      ...{ pid: this.#nextPid(), host: `worker-${index}`, skewMs: () => workerSkewsMs[index] ?? 0 },
      mishap: mishap !== undefined && 'afterOperations' in mishap ? mishap : undefined,
      onOver: () => {
        this.#onEnd(worker);
        if (!this.#isOver) timeline.schedule(100 + random() * 5_000, () => this.#isOver || this.#employ(index));
      },
    });
    this.all.push(worker);
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
    worker.start((terminal) => runWorker({ leaseSeconds, allowSecretEnv: ['KEY'] }, terminal));
  }
}
