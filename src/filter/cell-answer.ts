import type { RowCells } from '../domain/row.js';

/** What a cell says to a test: that it holds or not, or nothing, as it cannot be read as what it is compared with. */
export const NO = 0;
export const YES = 1;
export const UNREADABLE = 2;
export type CellAnswer = typeof NO | typeof YES | typeof UNREADABLE;

/** A test of one cell. */
export interface CompiledTest {
  /** Of a cell as text, and of the row that it stands in. A blank one holds for `blank` alone. */
  ofText(text: string, cells: RowCells): CellAnswer;
  /** What a cell is not that cannot be compared, for people. */
  readonly expected: string;
  /** What to write in the job where all cells are so. */
  readonly advice?: string;
}
