import fc from 'fast-check';
import type { RowVerdict } from '../../src/domain/row.js';
import type { JournalEntry, OutcomeEntry, RowRange } from '../../src/journal/entry-format.js';
import type { StepSize } from '../../src/journal/row-status-view.js';
import { aClose, anIntent, anOpen, anOutcome } from './builders.js';

/** Rows of the requests of each step, in their order. */
export const REQUESTS = [
  [3, 1, 4, 2],
  [1, 1, 5],
] as const;

export const SIZES: StepSize[] = REQUESTS.map((rows, at) => {
  return { number: at + 1, counts: { planned: rows.reduce((sum, each) => sum + each, 0), requests: rows.length } };
});

/** What a plain model knows of a row. */
export interface ModelRow {
  standing: 'open' | 'under-way' | RowVerdict['status'];
  code: string;
  by: string;
  ids: readonly string[];
  movedTo: string | undefined;
}

interface Part {
  readonly step: number;
  readonly request: number;
  readonly part: string;
  readonly rows: readonly [first: number, count: number];
  isInFlight: boolean;
}

const CODES = ['1002', '1003', 'REJECTED'];

/** A journal as the writers of the project make one, entry by entry; beside it, said slowly, what each row came to. */
export class JournalModel {
  readonly entries: JournalEntry[] = [];
  readonly rows: readonly ModelRow[][];
  #parts: Part[] = [];
  #at = 1000;
  #plans = 0;

  constructor() {
    this.rows = SIZES.map(({ counts }) =>
      Array.from({ length: counts.planned }, (): ModelRow => {
        return { standing: 'open', code: '', by: '', ids: [], movedTo: undefined };
      }),
    );
    for (const [at, requests] of REQUESTS.entries()) {
      let first = 0;
      for (const [index, count] of requests.entries()) {
        this.#parts.push({ step: at + 1, request: index + 1, part: '', rows: [first, count], isInFlight: false });
        first += count;
      }
    }
    this.open(0);
  }

  /** Every planned row, with its request and the first row of that. */
  list(): { step: number; row: number; request: number; first: number; is: ModelRow }[] {
    return REQUESTS.flatMap((counts, at) => {
      let end = 0;
      return counts.flatMap((count, index) => {
        const first = end;
        end += count;
        return Array.from({ length: count }, (_, each) => {
          const row = first + each;
          return { step: at + 1, row, request: index + 1, first, is: this.#row(at + 1, row) };
        });
      });
    });
  }

  open(pick: number): void {
    this.#add(anOpen({ host: `host-${pick % 3}` }));
  }

  close(): void {
    this.#add(aClose());
  }

  begin(pick: number): void {
    const part = pickOf(this.#waiting(), pick);
    if (part !== undefined) this.#begin(part);
  }

  end(pick: number, kind: 'again' | 'split' | 'settled'): void {
    const inFlight = this.#parts.filter(({ isInFlight }) => isInFlight);
    const part = pickOf(inFlight, pick);
    if (part === undefined) return;
    const [first, count] = part.rows;
    part.isInFlight = false;
    if (kind === 'settled') {
      this.#settleOwn(part, pick);
      return;
    }
    this.#setOpen(part);
    if (kind === 'split' && count > 1) {
      const half = Math.ceil(count / 2);
      this.#parts = this.#parts.filter((each) => each !== part);
      this.#parts.push({ ...part, part: `${part.part}0`, rows: [first, half] });
      this.#parts.push({ ...part, part: `${part.part}1`, rows: [first + half, count - half] });
    }
    this.#addOutcome(part, { kind: count > 1 ? kind : 'again', why: '' });
  }

  #settleOwn(part: Part, pick: number): void {
    const [first, count] = part.rows;
    this.#parts = this.#parts.filter((each) => each !== part);
    const verdicts = [
      { status: 'accepted', code: 'QUEUED', reason: '' },
      { status: 'rejected', code: CODES[pick % CODES.length] ?? '', reason: 'no' },
      { status: 'in-doubt', code: 'no-answer', reason: 'lost' },
    ] as const;
    const rows = Array.from({ length: count }, (_, at) => [(pick + at * (pick % 4)) % 3, `id-${pick}-${at}`] as const);
    for (const [at, [index, id]] of rows.entries()) {
      const { status: standing, code } = verdicts[index]!;
      Object.assign(this.#row(part.step, first + at), { standing, code, ids: [id] });
    }
    this.#addOutcome(part, { kind: 'settled', outcomes: { verdicts, rows, shared: [] } });
  }

  giveUp(pick: number): void {
    const part = pickOf(this.#waiting(), pick);
    if (part === undefined) return;
    this.#begin(part);
    this.#parts = this.#parts.filter((each) => each !== part);
    const verdict = { status: 'not-sent', code: 'given-up', reason: 'for another plan' } as const;
    const [first, count] = part.rows;
    for (let row = first; row < first + count; row++) {
      Object.assign(this.#row(part.step, row), { standing: 'not-sent', code: verdict.code });
    }
    this.#addOutcome(part, { kind: 'given-up', verdict });
  }

  settle(pick: number): void {
    const step = 1 + (pick % SIZES.length);
    const by = ['receipt', 'person ann', 'export sha256 1'][pick % 3] ?? '';
    const verdicts: RowVerdict[] = [
      { status: 'accepted', code: 'RECEIPT', reason: '' },
      { status: 'not-sent', code: 'assumed-not-sent', reason: '' },
      { status: 'rejected', code: '1100', reason: '' },
    ];
    const rows: [number, number, string][] = [];
    for (const [index, row] of (this.rows[step - 1] ?? []).entries()) {
      if (row.standing !== 'in-doubt' || (pick + index) % 3 === 0) continue;
      const to = (pick + index) % verdicts.length;
      rows.push([index, to, `umid-${pick}-${index}`]);
      const { status: standing, code } = verdicts[to]!;
      Object.assign(row, { standing, code, by, ids: [`umid-${pick}-${index}`] });
    }
    if (rows.length > 0) this.#add({ type: 'settle', step, at: this.#at, by, verdicts, rows });
  }

  move(pick: number, status: 'rejected' | 'not-sent'): void {
    // A plan may get rows a second time: rejections are re-imported as they come.
    const plan = `p${pick % 3 === 0 ? this.#plans : ++this.#plans}`;
    const ranges: RowRange[] = [];
    for (const [at, rows] of this.rows.entries()) {
      for (const [index, row] of rows.entries()) {
        if (row.standing !== status || row.movedTo !== undefined || (pick + index) % 4 === 0) continue;
        row.movedTo = plan;
        ranges.push([at + 1, index, 1]);
      }
    }
    if (ranges.length > 0) this.#add({ type: 'retry', at: this.#at, by: 'person ann', plan, status, rows: ranges });
  }

  #begin(part: Part): void {
    part.isInFlight = true;
    const { step, request, rows } = part;
    for (let row = rows[0]; row < rows[0] + rows[1]; row++) this.#row(step, row).standing = 'under-way';
    this.#add(anIntent({ step, request, part: part.part, rows, at: this.#at }));
  }

  #setOpen({ step, rows }: Part): void {
    for (let row = rows[0]; row < rows[0] + rows[1]; row++) this.#row(step, row).standing = 'open';
  }

  #addOutcome(part: Part, result: OutcomeEntry['result']): void {
    const { step, request } = part;
    this.#add(anOutcome({ step, request, part: part.part, at: this.#at, result }));
  }

  #waiting(): Part[] {
    return this.#parts.filter(({ isInFlight }) => !isInFlight);
  }

  #row(step: number, row: number): ModelRow {
    return this.rows[step - 1]![row]!;
  }

  #add(entry: JournalEntry): void {
    this.entries.push(entry);
    // Clocks of machines differ: times may go back.
    this.#at += this.entries.length % 5 === 0 ? -7 : 10;
  }
}

function pickOf<T>(from: readonly T[], pick: number): T | undefined {
  return from[pick % Math.max(1, from.length)];
}

const DOINGS = ['begin', 'begin', 'begin', 'again', 'split', 'settled', 'settled', 'settled'] as const;
const RARE = ['giveUp', 'settle', 'move rejected', 'move not-sent', 'open', 'close'] as const;

/** Journals that the writers may make, with what each row came to. */
export const anyJournal: fc.Arbitrary<JournalModel> = fc
  .array(fc.tuple(fc.constantFrom(...DOINGS, ...RARE), fc.nat(60)), { maxLength: 80 })
  .map((commands) => {
    const model = new JournalModel();
    for (const [does, pick] of commands) {
      if (does === 'begin') model.begin(pick);
      else if (does === 'giveUp') model.giveUp(pick);
      else if (does === 'settle') model.settle(pick);
      else if (does === 'move rejected') model.move(pick, 'rejected');
      else if (does === 'move not-sent') model.move(pick, 'not-sent');
      else if (does === 'open') model.open(pick);
      else if (does === 'close') model.close();
      else model.end(pick, does);
    }
    return model;
  });
