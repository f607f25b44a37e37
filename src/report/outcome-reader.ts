import { InternalError } from '../domain/errors.js';
import type { RowOutcomes, RowVerdict } from '../domain/row.js';
import { JournalWindow } from '../journal/reader.js';
import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import type { Files } from '../storage/files.js';

/** The outcome of a request, or of one of its parts, with the planned rows that it is for. */
export interface PlacedOutcome {
  readonly first: number;
  readonly outcomes: RowOutcomes;
}

/** The end of a row without an answer to its request: it was in doubt, or given up. */
export interface SettledRow {
  readonly verdict: RowVerdict;
  readonly ids: readonly string[];
}

/** Rows of settlements that are kept: about 20 MB. They are asked for in the order of the rows, and many may be for rows far apart. */
const KEPT_ROWS = 100_000;

/** The outcomes of a run's requests, read from its journal on demand, roughly in its order. The caller closes it. */
export class OutcomeReader {
  readonly #path: string;
  readonly #rows: RowStatusView;
  readonly #outcomes: JournalWindow;
  readonly #settlements: JournalWindow;
  /** By the offset of the entry: what it says of each row. */
  readonly #kept = new Map<number, ReadonlyMap<number, SettledRow>>();
  #keptRows = 0;

  constructor(files: Files, path: string, rows: RowStatusView) {
    this.#path = path;
    this.#rows = rows;
    this.#outcomes = new JournalWindow(files, path);
    this.#settlements = new JournalWindow(files, path);
  }

  /** Of one request, whose first planned row is `first`; none where it has no outcome. */
  async outcomesOf(step: number, request: number, first: number): Promise<PlacedOutcome[]> {
    const found: PlacedOutcome[] = [];
    for (const place of this.#rows.placesOf(step)?.outcomesOf(request, first) ?? []) {
      const entry = await this.#outcomes.readEntry(place.offset);
      if (entry.type !== 'outcome' || entry.result.kind !== 'settled') throw this.#damage(place.offset);
      found.push({ first: place.first, outcomes: entry.result.outcomes });
    }
    return found;
  }

  /** For a planned row that was settled or given up; replaces the row's outcome. */
  async settledRow(step: number, row: number): Promise<SettledRow | undefined> {
    const verdict = this.#rows.endOf(step, row)?.givenUp;
    if (verdict !== undefined) return { verdict, ids: [] };
    const offset = this.#rows.placesOf(step)?.settlementOf(row);
    if (offset === undefined) return undefined;
    const settled = (this.#kept.get(offset) ?? (await this.#readSettlement(offset))).get(row);
    if (settled === undefined) throw this.#damage(offset);
    return settled;
  }

  async close(): Promise<void> {
    await this.#outcomes.close();
    await this.#settlements.close();
  }

  async #readSettlement(offset: number): Promise<ReadonlyMap<number, SettledRow>> {
    const entry = await this.#settlements.readEntry(offset);
    if (entry.type !== 'settle') throw this.#damage(offset);
    const settled = new Map<number, SettledRow>();
    for (const [row, index, ...ids] of entry.rows) {
      const verdict = entry.verdicts[index];
      if (verdict !== undefined) settled.set(row, { verdict, ids });
    }
    for (const [oldest, { size }] of this.#kept) {
      if (this.#keptRows + settled.size <= KEPT_ROWS) break;
      this.#kept.delete(oldest);
      this.#keptRows -= size;
    }
    this.#kept.set(offset, settled);
    this.#keptRows += settled.size;
    return settled;
  }

  #damage(offset: number): InternalError {
    return new InternalError(
      'journal-damaged',
      `Cannot read ${this.#path}: byte ${offset} holds another entry than before`,
    );
  }
}
