import { OPT_OUT_COLUMNS } from '../../domain/opt-out-line.js';
import { personOf } from '../../domain/person.js';
import type { Cell } from '../../domain/row.js';
import { maskCell } from '../../normalize/mask.js';
import { normalizeNumber } from '../../normalize/number/number.js';
import type { ProblemList } from '../problems.js';
import type { SuppressionColumn } from './suppression-columns.js';

/**
 * The rows of a list that Volley writes, which may have been sorted: a number is in again only where a row says so that stands behind
 * all that say out, and is as late as they are. What cannot be read is a problem.
 */
export class OptOutRows {
  /** When a person last opted out, in ms. */
  readonly #outAt = new Map<number, number>();
  readonly #isOut = new Map<number, boolean>();
  readonly #columns: readonly number[];

  constructor(columns: readonly string[]) {
    this.#columns = OPT_OUT_COLUMNS.map((name) => columns.indexOf(name));
  }

  add(cells: readonly Cell[], where: string, problems: ProblemList): void {
    const [written = '', what = '', at = ''] = this.#columns.map((index) => cells[index] ?? '');
    const said = what.trim().toLowerCase();
    const atMs = Date.parse(at.trim());
    const number = normalizeNumber(written, undefined);
    if (!number.ok) {
      const message = `column "number" holds ${maskCell(number.code, written)}, which is not a number with + (${number.code}), expected one`;
      problems.add({ where, message });
    } else if (said !== 'out' && said !== 'in') {
      problems.add({ where, message: 'column "what" says neither out nor in, expected one of them' });
    } else if (said === 'in' && Number.isNaN(atMs)) {
      problems.add({ where, message: 'column "at" of a row that says in holds no time, expected when it was' });
    } else this.#take(personOf(Number(number.e164)), said, atMs);
  }

  #take(person: number, said: 'out' | 'in', atMs: number): void {
    const outAt = this.#outAt.get(person) ?? Number.NEGATIVE_INFINITY;
    if (said === 'out' && atMs > outAt) this.#outAt.set(person, atMs);
    this.#isOut.set(person, said === 'out' || atMs < outAt);
  }

  get column(): SuppressionColumn {
    const international = [...this.#isOut].flatMap(([person, isOut]) => (isOut ? [person] : []));
    const none = { national: [], unreadable: 0, damaged: 0, withoutCountry: 0, places: [] };
    return { name: OPT_OUT_COLUMNS[0], international, ...none };
  }
}
