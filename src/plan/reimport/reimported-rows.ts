import { remember } from '../../domain/is-object.js';
import type { InputFile } from '../../input/inputs.js';
import type { RecordReader } from '../../input/record-reader.js';
import { readRowId } from '../../kinds/ids.js';
import type { RowRefusal } from '../../kinds/step-kind.js';
import type { DigestedInput } from '../plan-deps.js';
import { ProblemList } from '../problems.js';
import type { FilePlace } from './refused-rows.js';

/** Knows who owns the rows of a job's runs (registry/owner-lookup.ts). */
export interface RowOwners {
  /** Whether a plan read a file for a step of the kind: then rows of it may come back. */
  hasRead(kind: string, contentSha256: string): boolean;
  /** For a step that would send the row. */
  find(step: { readonly kind: string; readonly number: number }, id: string): Promise<FoundRow>;
  /** Why a row that was found is not sent, by the first of its facts: other rows of its files have the same. */
  refuseTwin(step: number, id: string, key: string): RowRefusal | undefined;
}

export interface FoundRow {
  /** The same for all ids of a row. */
  readonly name: string;
  /** Of a row that a step of the same number refused: where it stands. */
  readonly place: FilePlace | undefined;
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
  /** By name: the last file of the step that has the row. */
  readonly #lastIn = new Map<string, number>();
  /** By the content of a file: its rows that come back, and the file in which they do. */
  readonly #cameBack = new Map<string, Map<number, string>>();
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

  /** Notes which rows of the step's files come back in others of them, before any is planned. `assertNotInterrupted` throws where planning is to end: it is asked at each block. */
  async readAhead(
    inputs: readonly DigestedInput[],
    open: (file: InputFile) => RecordReader,
    assertNotInterrupted: () => void,
  ): Promise<void> {
    if (!inputs.some(({ contentSha256 }) => this.#owners.hasRead(this.#step.kind, contentSha256))) return;
    for (const [index, { file }] of inputs.entries()) {
      const reader = open(file);
      // What is wrong with the file is said when it is planned.
      await new ProblemList().gather(file.shown, async () => {
        for await (const { rows } of reader.blocks()) {
          assertNotInterrupted();
          if (reader.ownColumns.length === 0) return;
          await this.prepare(rows.ownIds.values());
          for (const { name, place } of this.#found.values()) {
            this.#lastIn.set(name, index);
            if (place === undefined) continue;
            remember(this.#cameBack, place.contentSha256, () => new Map<number, string>()).set(place.row, file.shown);
          }
        }
      });
    }
    this.#fileRuns.clear();
  }

  /** Why a row of a file, which has no id, is not planned: it comes back in another file. */
  findComeBack(contentSha256: string, row: number): RowRefusal | undefined {
    const file = this.#cameBack.get(contentSha256)?.get(row);
    return file === undefined ? undefined : skip('read-again', `It came back in ${file}, and counts there`);
  }

  /** Why a row that cannot be sent is not rejected: a later file has it again. */
  findLater(id: string, file: number): RowRefusal | undefined {
    const last = this.#lastIn.get(this.#found.get(id)?.name ?? '') ?? file;
    return last === file ? undefined : skip('read-again', 'The same row stands in a later file, and counts there');
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
      : skip('read-again', `The same row stands in ${this.#describeRow(earlier)}, which is kept`);
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

/** `retried`: another plan has it; `read-again`: this one has it once more. */
export function skip(code: 'retried' | 'read-again', reason: string): RowRefusal {
  return { kind: 'skipped', skip: { code, reason } };
}
