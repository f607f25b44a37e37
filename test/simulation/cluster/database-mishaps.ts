import type { Runner, Stage } from '../sim-process.js';
import type { DatabaseMishap } from './cluster-scenario.js';
import type { SimDatabase } from './sim-database.js';

/** What happens to the database, and on the ways to it and to the service, while leaders and workers use them. */
export class DatabaseMishaps {
  /** A standby has lost commits. */
  hasLostCommits = false;
  /** Then a leader that finds less than it wrote down cannot know whether commits were lost. */
  wasRestarted = false;
  readonly #database: SimDatabase;
  readonly #stage: Stage;
  readonly #processes: () => readonly Runner[];

  constructor(database: SimDatabase, stage: Stage, processes: () => readonly Runner[]) {
    this.#database = database;
    this.#stage = stage;
    this.#processes = processes;
  }

  schedule(mishaps: readonly DatabaseMishap[]): void {
    for (const mishap of mishaps) this.#stage.timeline.schedule(mishap.atMs, () => this.#disturb(mishap));
  }

  #disturb(mishap: DatabaseMishap): void {
    if (mishap.kind === 'partition' || mishap.kind === 'no-service') {
      const all = this.#processes().filter(({ isAlive }) => isAlive);
      const runner = all[mishap.process % Math.max(1, all.length)];
      if (runner === undefined) return;
      if (mishap.kind === 'partition') this.#database.cutOff(runner, mishap.forMs);
      else this.#cutOffService(runner, mishap.forMs);
    } else if (mishap.kind !== 'promotion') {
      this.#database.goAway(mishap.forMs, () => mishap.kind === 'restart' && this.#restart());
    } else {
      const standby = this.#database.cluster.copyStandby();
      this.#stage.timeline.schedule(mishap.lagMs, () => {
        this.hasLostCommits = true;
        this.#database.goAway(mishap.forMs, () => {
          this.#stage.trace(`a standby takes over, ${Math.round(mishap.lagMs)} ms behind`);
          standby.promote();
        });
      });
    }
  }

  #cutOffService(runner: Runner, forMs: number): void {
    this.#stage.trace(`${runner.name} does not reach the service for ${Math.round(forMs)} ms`);
    this.#stage.service.cutOff(runner, forMs);
  }

  #restart(): void {
    this.wasRestarted = true;
    this.#database.cluster.restart();
  }
}
