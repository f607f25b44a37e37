import { OPT_OUT_COLUMNS } from '../../domain/opt-out-line.js';
import type { Cell } from '../../domain/row.js';
import { maskCell } from '../../normalize/mask.js';
import { normalizeNumber } from '../../normalize/number/number.js';
import type { ProblemList } from '../problems.js';
import type { SuppressionColumn } from './suppression-columns.js';

/** The rows of a list that Volley writes: a number is out if its latest row says so. What cannot be read is a problem. */
export class OptOutRows {
  readonly #isOut = new Map<number, boolean>();
  readonly #numberAt: number;
  readonly #whatAt: number;

  constructor(columns: readonly string[]) {
    const [number, what] = OPT_OUT_COLUMNS;
    this.#numberAt = columns.indexOf(number);
    this.#whatAt = columns.indexOf(what);
  }

  add(cells: readonly Cell[], where: string, problems: ProblemList): void {
    const written = cells[this.#numberAt] ?? '';
    const what = (cells[this.#whatAt] ?? '').trim().toLowerCase();
    const number = normalizeNumber(written, undefined);
    if (!number.ok) {
      const message = `column "number" holds ${maskCell(number.code, written)}, which is not a number with + (${number.code}), expected one`;
      problems.add({ where, message });
    } else if (what !== 'out' && what !== 'in') {
      problems.add({ where, message: 'column "what" says neither out nor in, expected one of them' });
    } else this.#isOut.set(Number(number.e164), what === 'out');
  }

  get column(): SuppressionColumn {
    const international = [...this.#isOut].flatMap(([number, isOut]) => (isOut ? [number] : []));
    const none = { national: [], unreadable: 0, damaged: 0, withoutCountry: 0, places: [] };
    return { name: OPT_OUT_COLUMNS[0], international, ...none };
  }
}
