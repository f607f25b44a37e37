import type { FindColumn } from '../../domain/find-column.js';

/** Finds columns, and remembers which were matched only without case and punctuation, to report it. */
export class FoldedNames {
  readonly find: FindColumn;
  readonly #folded = new Map<string, string>();

  constructor(findColumn: FindColumn) {
    this.find = (columns, wanted) => {
      const found = findColumn(columns, wanted);
      if (found?.how === 'folded') this.#folded.set(wanted, columns[found.index] ?? '');
      return found;
    };
  }

  /** A sentence for each since the last call. */
  takeNotices(): string[] {
    const notices = [...this.#folded].map(([wanted, column]) => `its column "${column}" is taken for "${wanted}"`);
    this.#folded.clear();
    return notices;
  }
}
