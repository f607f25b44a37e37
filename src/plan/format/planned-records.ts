import type { InputRecord, RecordReader } from '../../input/record-reader.js';
import type { PlannedStep } from './plan-file.js';
import type { RowLine } from './row-line.js';

const BATCH_RECORDS = 1000;

/**
 * Rows of a step of another plan as records of its inputs: cells and places as that plan holds them, since the files
 * may have changed. Read the inputs one after the other, in their order. Where the plan has stages, rows of a file may stand behind those
 * of later ones: then all rows are read for each input.
 */
export class PlannedRecords {
  readonly #planned: PlannedStep;
  readonly #open: () => AsyncGenerator<RowLine>;
  #rows: AsyncGenerator<RowLine>;
  /** Lookahead: the first row of a later input. */
  #ahead: RowLine | undefined;

  constructor(planned: PlannedStep, open: () => AsyncGenerator<RowLine>) {
    this.#planned = planned;
    this.#open = open;
    this.#rows = open();
  }

  readInput(index: number): RecordReader {
    const { columns = [], sha256 = '' } = this.#planned.inputs[index] ?? {};
    const none = { ownColumns: [], notices: [], open: async () => {}, close: async () => {} };
    return { ...none, columns, sha256, batches: () => this.#batches(index) };
  }

  async close(): Promise<void> {
    await this.#rows.return(undefined);
  }

  async *#batches(input: number): AsyncGenerator<readonly InputRecord[]> {
    let batch: InputRecord[] = [];
    const isOrdered = this.#planned.stages === undefined;
    if (!isOrdered) {
      await this.close();
      this.#rows = this.#open();
    }
    for (let row = await this.#next(); row !== undefined; row = await this.#next()) {
      if (row.file !== input && !isOrdered) continue;
      if (row.file !== input) {
        this.#ahead = row;
        break;
      }
      const { cells, line, row: number, from } = row;
      batch.push({ cells, line, row: number, fault: undefined, ownId: from });
      if (batch.length < BATCH_RECORDS) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  async #next(): Promise<RowLine | undefined> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead !== undefined) return ahead;
    const { value, done } = await this.#rows.next();
    return done === true ? undefined : value;
  }
}
