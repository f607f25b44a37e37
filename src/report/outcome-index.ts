import { InternalError } from '../domain/errors.js';
import type { NotSent, RowOutcomes, RowVerdict } from '../domain/row.js';
import type { SettleEntry } from '../journal/entry-format.js';
import { type PlacedLine, readJournal, readLineAt } from '../journal/reader.js';
import { keyOf, type OpenRequest, RunState } from '../journal/replay.js';
import { RowRanges } from '../journal/row-status/row-ranges.js';
import type { Plan } from '../plan/format/plan-file.js';
import type { Files, ReadFile } from '../storage/files.js';

/** The outcome of a request, or of one of its parts, with the planned rows that it is for. */
export interface PlacedOutcome {
  readonly first: number;
  readonly outcomes: RowOutcomes;
}

/** What a row came to without an answer to its request: it was in doubt, or was given up. */
export interface SettledRow {
  readonly verdict: RowVerdict;
  readonly ids: readonly string[];
}

/**
 * Where in the journal the outcomes of each request stand. Whole requests take 12 bytes each; parts of split ones are
 * few, and so are rows that were settled later. The outcomes themselves are read when they are wanted, near to the order of the journal.
 */
export class OutcomeIndex {
  readonly state = new RunState();
  readonly #files: Files;
  readonly #path: string;
  readonly #steps = new Map<number, StepIndex>();
  readonly #settled = new Map<number, Map<number, SettledRow>>();
  readonly #givenUp = new Map<number, RowRanges<NotSent>>();
  readonly #retried = new Map<number, RowRanges<string>>();
  #window: { offset: number; bytes: Buffer } = { offset: 0, bytes: Buffer.alloc(0) };
  #file: ReadFile | undefined;

  static async read(files: Files, path: string, plan: Plan): Promise<OutcomeIndex> {
    const index = new OutcomeIndex(files, path, plan);
    await readJournal(files, path, (line) => index.#add(line));
    return index;
  }

  private constructor(files: Files, path: string, plan: Plan) {
    this.#files = files;
    this.#path = path;
    for (const { number, counts } of plan.steps) {
      this.#steps.set(number, {
        offsets: new Float64Array(counts.requests + 1),
        lengths: new Uint32Array(counts.requests + 1),
        parts: new Map(),
      });
    }
  }

  /** Of one request, whose first planned row is `first`; none where it has no outcome. */
  async outcomesOf(step: number, request: number, first: number): Promise<PlacedOutcome[]> {
    const index = this.#steps.get(step);
    const length = index?.lengths[request] ?? 0;
    const places = [...(index?.parts.get(request) ?? [])];
    if (length > 0) places.push({ offset: index?.offsets[request] ?? 0, length, first });
    const found: PlacedOutcome[] = [];
    for (const place of places) found.push({ first: place.first, outcomes: await this.#readOutcomes(place) });
    return found;
  }

  /** Of a planned row that was in doubt, and is no more, or was given up; it takes the place of the row's outcome. */
  settledRow(step: number, row: number): SettledRow | undefined {
    const verdict = this.#givenUp.get(step)?.find(row);
    return verdict === undefined ? this.#settled.get(step)?.get(row) : { verdict, ids: [] };
  }

  /** Id of the plan that a planned row was given to; undefined where it is this run's own. */
  retriedBy(step: number, row: number): string | undefined {
    return this.#retried.get(step)?.find(row);
  }

  /** Parts of a request that were sent and have no outcome. */
  inFlight(step: number, request: number): OpenRequest[] {
    const open = [...this.state.step(step).open.values()];
    return open.filter((each) => each.request === request && each.isInFlight);
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  #add({ entry, offset, length }: PlacedLine): void {
    if (entry.type === 'outcome' && entry.result.kind === 'settled') {
      const index = this.#steps.get(entry.step);
      const open = this.state.step(entry.step).open.get(keyOf(entry));
      if (index !== undefined && open !== undefined) {
        if (entry.part === '') {
          index.offsets[entry.request] = offset;
          index.lengths[entry.request] = length;
        } else {
          const parts = index.parts.get(entry.request) ?? [];
          index.parts.set(entry.request, [...parts, { offset, length, first: open.rows[0] }]);
        }
      }
    }
    if (entry.type === 'outcome' && entry.result.kind === 'given-up') {
      const open = this.state.step(entry.step).open.get(keyOf(entry));
      if (open !== undefined) rangesIn(this.#givenUp, entry.step).add(open.rows, entry.result.verdict);
    }
    if (entry.type === 'settle') this.#settle(entry);
    if (entry.type === 'retry') {
      for (const [step, first, count] of entry.rows) rangesIn(this.#retried, step).add([first, count], entry.plan);
    }
    this.state.apply(entry);
  }

  #settle({ step, verdicts, rows }: SettleEntry): void {
    const settled = this.#settled.get(step) ?? new Map<number, SettledRow>();
    this.#settled.set(step, settled);
    for (const [row, index, ...ids] of rows) {
      const verdict = verdicts[index];
      if (verdict !== undefined) settled.set(row, { verdict, ids });
    }
  }

  async #readOutcomes({ offset, length }: { offset: number; length: number }): Promise<RowOutcomes> {
    const { entry } = await readLineAt(await this.#windowAround(offset, length), offset, length);
    if (entry.type === 'outcome' && entry.result.kind === 'settled') return entry.result.outcomes;
    throw new InternalError('journal-damaged', `Cannot read ${this.#path}: no outcome at byte ${offset}`);
  }

  /** Outcomes stand nearly in the order in which they are asked for: a window saves most reads. */
  async #windowAround(offset: number, length: number): Promise<Pick<ReadFile, 'read'>> {
    const isInside =
      offset >= this.#window.offset && offset + length <= this.#window.offset + this.#window.bytes.length;
    if (!isInside) {
      this.#file ??= await this.#files.openRead(this.#path);
      const start = Math.max(0, offset - WINDOW_BYTES / 4);
      const size = Math.max(WINDOW_BYTES, offset - start + length);
      this.#window = { offset: start, bytes: await this.#file.read(start, size) };
    }
    const { offset: start, bytes } = this.#window;
    return { read: async (at, count) => bytes.subarray(at - start, at - start + count) };
  }
}

function rangesIn<T>(steps: Map<number, RowRanges<T>>, step: number): RowRanges<T> {
  const ranges = steps.get(step) ?? new RowRanges<T>();
  steps.set(step, ranges);
  return ranges;
}

const WINDOW_BYTES = 1 << 20;

interface StepIndex {
  readonly offsets: Float64Array;
  readonly lengths: Uint32Array;
  readonly parts: Map<number, { offset: number; length: number; first: number }[]>;
}
