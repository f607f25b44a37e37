import { createHash } from 'node:crypto';
import type { RowStep } from '../job/job.js';

/** Rows among which a share is drawn: a tenth of a percent is one of them. */
const BLOCK_ROWS = 1000;

interface WaitingRow {
  readonly rank: number;
  /** Its place in the order in which rows were added. */
  readonly at: number;
  readonly write: (stage: number) => void;
}

/**
 * Chooses the stage of each row by a digest of the row, so that the rows of a stage stand for all of them, wherever they are in
 * their files, and the same rows give the same stages; by sender and text too: another text goes to other people first. A share is drawn
 * from blocks of rows; of a number of rows, those with the smallest digests of all are kept, so that their order does not matter.
 * Undefined for a step that sends all at once.
 */
export function createStageChooser(step: RowStep) {
  if (step.kind !== 'sms' || step.ramp === undefined) return undefined;
  const { ramp, template } = step;
  const salt = `${template.source ?? ''}\n${template.text}\n`;
  const size = ramp[0]?.size;
  /** How many rows the first stage has; undefined where stages are shares. */
  const mostRows = size !== undefined && 'rows' in size ? size.rows : undefined;
  let waiting: WaitingRow[] = [];
  let given = 0;
  /** Rows with a stage, and how many of them have this one or one before it. */
  let chosen = 0;
  const upTo = ramp.map(() => 0);

  const keepFirst = (most: number) => {
    const ranked = waiting.toSorted(byRank);
    waiting = ranked.slice(0, most);
    write(ranked.slice(most), () => 2);
  };
  /** Rounded up over all rows so far: the first stage of any file has a row. */
  const cutShares = () => {
    const ranked = waiting.toSorted(byRank);
    waiting = [];
    chosen += ranked.length;
    let tenths = 0;
    const ends = ramp.map(({ size }, index) => {
      tenths += Math.round(('percent' in size ? size.percent : 0) * 10);
      const before = upTo[index] ?? 0;
      const end = Math.ceil((chosen * tenths) / 1000);
      upTo[index] = end;
      return end - before;
    });
    const stages = new Map(ranked.map((row, rank) => [row, 1 + ends.filter((end) => end <= rank).length]));
    write(ranked, (row) => stages.get(row) ?? ends.length + 1);
  };
  /** At the end of a file: rows of which a share is drawn keep the order of their files. */
  const endFile = (): void => {
    if (mostRows === undefined) cutShares();
  };
  return {
    stages: [...ramp.keys(), ramp.length].map((at) => at + 1),
    /** `write` is called with the number of the stage, from 1, now or later. */
    add: (row: string, write: WaitingRow['write']): void => {
      const digest = createHash('sha256').update(salt).update(row).digest();
      waiting.push({ rank: digest.readUIntBE(0, 6), at: given, write });
      given += 1;
      if (waiting.length < BLOCK_ROWS + 2 * (mostRows ?? 0)) return;
      if (mostRows === undefined) cutShares();
      else keepFirst(mostRows);
    },
    endFile,
    finish: (): void => {
      endFile();
      keepFirst(mostRows ?? 0);
      write(waiting, () => 1);
    },
  };
}

export type StageChooser = NonNullable<ReturnType<typeof createStageChooser>>;

function byRank(one: WaitingRow, other: WaitingRow): number {
  return one.rank - other.rank || one.at - other.at;
}

/** Writes rows in the order in which they were added. */
function write(rows: readonly WaitingRow[], stageOf: (row: WaitingRow) => number): void {
  for (const row of rows.toSorted((one, other) => one.at - other.at)) row.write(stageOf(row));
}
