import type { PlannedRow, RowPlan } from '../steps/kind.js';
import type { PlannedStep } from './file.js';

const EXAMPLES = 3;

/** Counts the rows of a step over all its files, and says where the one with an ordinal stands. */
export class RowOrdinals {
  next = 0;
  readonly #files: { readonly from: number; readonly shown: string }[] = [];

  beginFile(shown: string): void {
    this.#files.push({ from: this.next, shown });
  }

  take(): number {
    this.next += 1;
    return this.next - 1;
  }

  describe(ordinal: number): string {
    const file = this.#files.findLast(({ from }) => from <= ordinal);
    return file === undefined ? `row ${ordinal + 1}` : `row ${ordinal - file.from + 1} of ${file.shown}`;
  }
}

/** What a person wants to know of a step before it is sent. */
export class Tally {
  readonly #rejections = new Map<string, number>();
  readonly #skips = new Map<string, number>();
  readonly #countries = new Map<string, number>();
  readonly #ucs2 = new Map<string, number>();
  readonly #examples: { to: string; text: string }[] = [];

  add(plan: RowPlan): void {
    if (plan.kind === 'rejected') increment(this.#rejections, plan.rejection.code);
    else if (plan.kind === 'skipped') increment(this.#skips, plan.skip.code);
    else this.#addPlanned(plan.row);
  }

  #addPlanned(row: PlannedRow): void {
    const { country, forcesUcs2 } = row;
    if (forcesUcs2 !== undefined) increment(this.#ucs2, forcesUcs2);
    if (country !== undefined) increment(this.#countries, country);
    if (this.#examples.length < EXAMPLES) this.#examples.push(row.preview());
  }

  figures(): Pick<PlannedStep, 'rejections' | 'skips' | 'countries' | 'ucs2' | 'examples'> & {
    rejected: number;
    skipped: number;
  } {
    return {
      rejected: sum(this.#rejections),
      skipped: sum(this.#skips),
      rejections: byCount(this.#rejections),
      skips: byCount(this.#skips),
      countries: byCount(this.#countries),
      ucs2: byCount(this.#ucs2),
      examples: this.#examples,
    };
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function sum(counts: Map<string, number>): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}

function byCount(counts: Map<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort((a, b) => b[1] - a[1]));
}
