import type { Runner, Stage } from '../sim-process.js';
import type { DatabaseMishap } from './cluster-scenario.js';
import type { SimDatabase } from './sim-database.js';

/** What happens to the database, and to the ways to it, while leaders and workers use it. */
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
    if (mishap.kind === 'partition') {
      const all = this.#processes().filter(({ isAlive }) => isAlive);
      const runner = all[mishap.process % Math.max(1, all.length)];
      if (runner !== undefined) this.#database.cutOff(runner, mishap.forMs);
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

  #restart(): void {
    this.wasRestarted = true;
    this.#database.cluster.restart();
  }
}
