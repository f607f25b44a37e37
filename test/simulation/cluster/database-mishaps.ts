import type { Process } from '../../world/process.js';
import type { World } from '../../world/world.js';
import type { DatabaseMishap } from './cluster-scenario.js';
import type { SimDatabase } from './sim-database.js';

/** What happens to the database, and on the ways to it and to the service, while leaders and workers use them. */
export class DatabaseMishaps {
  /** A standby has lost commits. */
  hasLostCommits = false;
  /** Then a leader that finds less than it wrote down cannot know whether commits were lost. */
  wasRestarted = false;
  readonly #database: SimDatabase;
  readonly #world: World;

  constructor(database: SimDatabase, world: World) {
    this.#database = database;
    this.#world = world;
  }

  schedule(mishaps: readonly DatabaseMishap[]): void {
    for (const mishap of mishaps) this.#world.timeline.schedule(mishap.atMs, () => this.#disturb(mishap));
  }

  #disturb(mishap: DatabaseMishap): void {
    if (mishap.kind === 'partition' || mishap.kind === 'no-service') {
      const all = this.#world.processes.filter(({ isAlive }) => isAlive);
      const process = all[mishap.process % Math.max(1, all.length)];
      if (process === undefined) return;
      if (mishap.kind === 'partition') this.#database.cutOff(process, mishap.forMs);
      else this.#cutOffService(process, mishap.forMs);
    } else if (mishap.kind !== 'promotion') {
      this.#database.goAway(mishap.forMs, () => mishap.kind === 'restart' && this.#restart());
    } else {
      const standby = this.#database.cluster.copyStandby();
      this.#world.timeline.schedule(mishap.lagMs, () => {
        this.hasLostCommits = true;
        this.#database.goAway(mishap.forMs, () => {
          this.#world.trace(`a standby takes over, ${Math.round(mishap.lagMs)} ms behind`);
          standby.promote();
        });
      });
    }
  }

  #cutOffService(process: Process, forMs: number): void {
    this.#world.trace(`${process.name} does not reach the service for ${Math.round(forMs)} ms`);
    this.#world.service.cutOff(process, forMs);
  }

  #restart(): void {
    this.wasRestarted = true;
    this.#database.cluster.restart();
  }
}
