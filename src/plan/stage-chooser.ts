import { createHash } from 'node:crypto';
import type { RampStage, RowStep } from '../job/job.js';

/** Rows among which a share is drawn: a tenth of a percent is one of them. */
const BLOCK_ROWS = 1000;

interface WaitingRow {
  readonly rank: number;
  /** Its place in the order in which rows were added. */
  readonly at: number;
  readonly write: (stage: number) => void;
}

/** Chooses by sender and text too: another text goes to other people first. Undefined for a step that sends all at once. */
export function createStageChooser(step: RowStep): StageChooser | undefined {
  if (step.kind !== 'sms' || step.ramp === undefined) return undefined;
  return new StageChooser(step.ramp, `${step.template.source ?? ''}\n${step.template.text}\n`);
}

/**
 * Chooses the stage of each row by a digest of the row, so that the rows of a stage stand for all of them, wherever they are in
 * their files, and the same rows give the same stages. A share is drawn from blocks of rows; of a number of rows, those with the
 * smallest digests of all are kept, so that their order does not matter.
 */
export class StageChooser {
  readonly #ramp: readonly RampStage[];
  readonly #salt: string;
  #waiting: WaitingRow[] = [];
  #given = 0;
  /** Rows with a stage, and how many of them have this one or one before it. */
  #chosen = 0;
  readonly #upTo: number[];

  constructor(ramp: readonly RampStage[], salt: string) {
    this.#ramp = ramp;
    this.#salt = salt;
    this.#upTo = ramp.map(() => 0);
  }

  get stages(): readonly number[] {
    return [...this.#ramp.keys(), this.#ramp.length].map((at) => at + 1);
  }

  /** `write` is called with the number of the stage, from 1, now or later. */
  add(row: string, write: WaitingRow['write']): void {
    const digest = createHash('sha256').update(this.#salt).update(row).digest();
    this.#waiting.push({ rank: digest.readUIntBE(0, 6), at: this.#given, write });
    this.#given += 1;
    const most = this.#mostRows;
    if (this.#waiting.length < BLOCK_ROWS + 2 * (most ?? 0)) return;
    if (most === undefined) this.#cutShares();
    else this.#keepFirst(most);
  }

  /** At the end of a file: rows of which a share is drawn keep the order of their files. */
  endFile(): void {
    if (this.#mostRows === undefined) this.#cutShares();
  }

  finish(): void {
    this.endFile();
    this.#keepFirst(this.#mostRows ?? 0);
    write(this.#waiting, () => 1);
  }

  /** How many rows the first stage has; undefined where stages are shares. */
  get #mostRows(): number | undefined {
    const size = this.#ramp[0]?.size;
    return size !== undefined && 'rows' in size ? size.rows : undefined;
  }

  #keepFirst(most: number): void {
    const ranked = this.#waiting.toSorted(byRank);
    this.#waiting = ranked.slice(0, most);
    write(ranked.slice(most), () => 2);
  }

  /** Rounded up over all rows so far: the first stage of any file has a row. */
  #cutShares(): void {
    const ranked = this.#waiting.toSorted(byRank);
    this.#waiting = [];
    this.#chosen += ranked.length;
    let tenths = 0;
    const ends = this.#ramp.map(({ size }, index) => {
      tenths += Math.round(('percent' in size ? size.percent : 0) * 10);
      const upTo = Math.ceil((this.#chosen * tenths) / 1000);
      const before = this.#upTo[index] ?? 0;
      this.#upTo[index] = upTo;
      return upTo - before;
    });
    const stages = new Map(ranked.map((row, rank) => [row, 1 + ends.filter((end) => end <= rank).length]));
    write(ranked, (row) => stages.get(row) ?? ends.length + 1);
  }
}

function byRank(one: WaitingRow, other: WaitingRow): number {
  return one.rank - other.rank || one.at - other.at;
}

/** Writes rows in the order in which they were added. */
function write(rows: readonly WaitingRow[], stageOf: (row: WaitingRow) => number): void {
  for (const row of rows.toSorted((one, other) => one.at - other.at)) row.write(stageOf(row));
}
