import { readRowId } from '../../kinds/ids.js';
import type { RowRefusal } from '../../kinds/step-kind.js';

/** Knows who owns the rows of a job's runs (registry/owner-lookup.ts). */
export interface RowOwners {
  /** For a step that would send the row. */
  find(step: { readonly kind: string; readonly number: number }, id: string): Promise<FoundRow>;
  /** Why a row that was found is not sent, by the first of its facts: other rows of its files have the same. */
  refuseTwin(step: { readonly kind: string; readonly number: number }, id: string, key: string): RowRefusal | undefined;
}

export interface FoundRow {
  /** The same for all ids of a row. */
  readonly name: string;
  /** Undefined where the step may send it. */
  readonly refusal: RowRefusal | undefined;
}

/**
 * Rows that a step reads from rejections files of runs: known by their ids, so that each is planned once and by one plan
 * alone, however often it is re-imported, and whatever was fixed in it.
 */
export class ReimportedRows {
  readonly #step: { readonly kind: string; readonly number: number };
  readonly #owners: RowOwners;
  readonly #describeRow: (ordinal: number) => string;
  /** By name, the rows of the step itself: planned, or left out by its `where`. */
  readonly #taken = new Map<string, number>();
  /** By id, those of a block. */
  #found = new Map<string, FoundRow>();
  #fileRuns = new Set<string>();

  constructor(
    step: { kind: string; number: number },
    owners: RowOwners,
    { describeRow }: { describeRow: (ordinal: number) => string },
  ) {
    this.#step = step;
    this.#owners = owners;
    this.#describeRow = describeRow;
  }

  /** Looks up the rows of a block, by their ids. */
  async prepare(ownIds: Iterable<string>): Promise<void> {
    this.#found = new Map();
    for (const ownId of ownIds) {
      const row = readRowId(ownId);
      if (row === undefined) continue;
      this.#fileRuns.add(row.run);
      this.#found.set(ownId, await this.#owners.find(this.#step, ownId));
    }
  }

  /** Why a row is not planned; undefined where it may be. */
  check(id: string): RowRefusal | undefined {
    const found = this.#found.get(id);
    if (found === undefined) return rejectUnknown('its _rowId is not one that Volley wrote, expected it unchanged');
    const earlier = this.#taken.get(found.name);
    return earlier === undefined
      ? found.refusal
      : skip(`The same row stands in ${this.#describeRow(earlier)}, which is kept`);
  }

  /** Why a row that could be sent is not. */
  refuseTwin(id: string, key: string): RowRefusal | undefined {
    return this.#owners.refuseTwin(this.#step, id, key);
  }

  noteTaken(id: string, ordinal: number): void {
    this.#taken.set(this.#found.get(id)?.name ?? id, ordinal);
  }

  /** Ends a file: the runs whose rows it held. */
  takeRuns(): string[] {
    const runs = [...this.#fileRuns].sort();
    this.#fileRuns = new Set();
    return runs;
  }
}

export function rejectUnknown(why: string): RowRefusal {
  return reject(`The row cannot be matched to the one that was rejected: ${why}`);
}

export function rejectSent(why: string): RowRefusal {
  return reject(`The row would be sent twice: ${why}; restore the row's own _rowId`);
}

function reject(what: string): RowRefusal {
  const reason = `${what}; clear its cell _rowId only if the row is new`;
  return { kind: 'rejected', rejection: { stage: 'read', field: '_rowId', code: 'bad-id', reason } };
}

/** Another plan, or another row, has it. */
export function skip(reason: string): RowRefusal {
  return { kind: 'skipped', skip: { code: 'retried', reason } };
}
