import type { InputTable } from '../world/table-reader.js';
import type { WalkWorld } from './walk-world.js';

/** The input files of the job, as they come. */
export class WalkInputs {
  readonly #world: WalkWorld;
  #count = 0;

  constructor(world: WalkWorld) {
    this.#world = world;
  }

  /** A new file of numbers that no other has: the row with no number is rejected, the doubled one is skipped. */
  deliver(): void {
    const rows = Array.from({ length: 5 }, (_, at) => {
      const number = this.#count * 10 + at;
      return [`P${number}`, at === 3 ? `+6012${3_000_000 + number}` : `+65${91_000_000 + number}`];
    });
    rows.push([`N${this.#count}`, 'n/a'], [`D${this.#count}`, rows[0]![1]!]);
    this.add({ columns: ['name', 'mobile'], rows });
  }

  /** Gives the path of the file. */
  add(table: InputTable): string {
    const path = `/in/${this.#count}.csv`;
    this.#world.tables.set(path, table);
    this.#count += 1;
    return path;
  }

  /** As if the last file had never been there. */
  removeLast(): void {
    this.#count -= 1;
    this.#world.tables.delete(`/in/${this.#count}.csv`);
  }
}
