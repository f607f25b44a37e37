import type { NotSent, Verdict } from '../../src/domain/row.js';
import type {
  CloseReason,
  IntentEntry,
  JournalLine,
  OutcomeEntry,
  RequestKey,
  StageEntry,
} from '../../src/journal/entry-format.js';
import { Violation } from '../world/violation.js';

/** A request, or a part of one, without an outcome for its rows. */
interface Part {
  readonly step: number;
  readonly rows: readonly [first: number, count: number];
  /** The entry under which it may leave now; undefined while it waits. */
  readonly intent: string | undefined;
}

/** Of a step that makes things before its first row. */
interface Provisioning {
  readonly ids: readonly string[];
  /** What is about to be made, and the entry that says so. */
  readonly open: { readonly what: string; readonly entry: string; readonly wasReported: boolean } | undefined;
}

/** Of a step without rows. */
interface Action {
  /** The entry under which it may change something now. */
  readonly entry: string | undefined;
  readonly verdict: Verdict | undefined;
}

export type RowState = (Verdict | NotSent)['status'] | 'in-flight' | 'open';

const NOTHING_MADE: Provisioning = { ids: [], open: undefined };

/** What the lines of a journal that count come to. Throws a Violation where one could not have followed on those before it. */
export class RunRecord {
  close: CloseReason | undefined;
  /** Of each step, the last look at a stage. */
  readonly stages = new Map<number, StageEntry>();
  readonly verdicts = new Map<string, Verdict | NotSent>();
  readonly #parts = new Map<string, Part>();
  readonly #preparations = new Map<number, Provisioning>();
  readonly #actions = new Map<number, Action>();
  #epoch = 0;

  /** The entry under which exactly these rows may leave now; undefined where there is none. */
  intentFor(step: number, rows: readonly number[]): string | undefined {
    for (const {
      step: own,
      rows: [first, count],
      intent,
    } of this.#parts.values()) {
      if (own === step && count === rows.length && rows.every((row, at) => row === first + at)) return intent;
    }
    return undefined;
  }

  /** Whether these rows may leave in some part or other: a worker splits a request before the journal says so. */
  isCovered(step: number, rows: readonly number[]): boolean {
    return rows.every((row) => this.#partWith(step, row)?.intent !== undefined);
  }

  preparationOf(step: number): Provisioning {
    return this.#preparations.get(step) ?? NOTHING_MADE;
  }

  actionOf(step: number): Action {
    return this.#actions.get(step) ?? { entry: undefined, verdict: undefined };
  }

  stateOf(step: number, row: number): RowState {
    const verdict = this.verdicts.get(`${step}-${row}`);
    if (verdict !== undefined) return verdict.status;
    const part = this.#partWith(step, row);
    return part?.intent === undefined ? 'open' : 'in-flight';
  }

  /** Returns the rows that have a verdict by it. */
  apply(line: JournalLine): readonly number[] {
    const { epoch, entry } = line;
    const fail = (why: string) => new Violation(`line ${line.seq} of a journal, ${entry.type}: ${why}`);
    if (epoch > this.#epoch !== (entry.type === 'open')) throw fail('a runner opens the journal first, and once');
    if (this.close === 'finished') throw fail('the run was finished');
    this.#epoch = epoch;
    const name = `${epoch}/${line.seq}`;
    if (entry.type === 'intent') this.#begin(entry, name, fail);
    else if (entry.type === 'outcome') return this.#end(entry, name, fail);
    else if (entry.type === 'action' || entry.type === 'acted') {
      const { entry: open, verdict } = this.actionOf(entry.step);
      if (entry.type === 'action' && open !== undefined) throw fail('it was begun, and has no outcome');
      const next = entry.type === 'action' ? { entry: name, verdict } : { entry: undefined, verdict: entry.verdict };
      this.#actions.set(entry.step, next);
    } else if (entry.type === 'preparing' || entry.type === 'prepared' || entry.type === 'unprepared') {
      this.#preparations.set(entry.step, prepare(this.preparationOf(entry.step), { entry, name, fail }));
    } else if (entry.type === 'close') this.#close(entry.reason);
    else if (entry.type === 'open') this.close = undefined;
    else if (entry.type === 'stage') this.#judgeStage(entry, fail);
    else if (entry.type !== 'snapshot') throw fail('no one settles or retries here');
    return [];
  }

  /** How many stages of a step have passed. */
  passedOf(step: number): number {
    const last = this.stages.get(step);
    return last === undefined ? 0 : last.number - (last.verdict === 'passed' ? 0 : 1);
  }

  #judgeStage(entry: StageEntry, fail: Fail): void {
    if (entry.number !== this.passedOf(entry.step) + 1) throw fail(`stage ${entry.number} is not the next one`);
    const last = this.stages.get(entry.step);
    const waits = last?.number === entry.number ? last.verdict : undefined;
    // What was held may pass by receipts that came since.
    const isRight = entry.by.startsWith('person ')
      ? waits !== undefined
      : waits === undefined || (waits === 'held' && entry.verdict === 'passed');
    if (!isRight) throw fail(`${entry.by} may not judge stage ${entry.number}, which is ${waits}`);
    this.stages.set(entry.step, entry);
  }

  #close(reason: CloseReason): void {
    this.close = reason;
    for (const [step, { ids, open }] of this.#preparations) {
      if (open?.wasReported === true) this.#preparations.set(step, { ids, open: undefined });
    }
  }

  #begin(entry: IntentEntry, name: string, fail: Fail): void {
    const { step, rows, part } = entry;
    const known = this.#parts.get(keyOf(entry));
    if (this.preparationOf(step).open !== undefined) throw fail('what the step needs is not made yet');
    if (known?.intent !== undefined) throw fail('it is in flight already');
    if (known === undefined && part !== '') throw fail('nothing was split into it');
    const isKnown = known?.rows[0] === rows[0] && known.rows[1] === rows[1];
    for (let row = rows[0]; row < rows[0] + rows[1]; row++) {
      if (this.verdicts.has(`${step}-${row}`)) throw fail(`row ${row} is settled`);
      if (!isKnown && this.#partWith(step, row) !== undefined) throw fail(`row ${row} is another request's`);
    }
    this.#parts.set(keyOf(entry), { step, rows, intent: name });
  }

  #end(entry: OutcomeEntry, name: string, fail: Fail): readonly number[] {
    const { step, result } = entry;
    const part = this.#parts.get(keyOf(entry));
    if (part?.intent === undefined) throw fail('there is no intent before it');
    const [first, count] = part.rows;
    this.#parts.delete(keyOf(entry));
    if (result.kind === 'again') this.#parts.set(keyOf(entry), { ...part, intent: undefined });
    else if (result.kind === 'split') {
      const half = Math.ceil(count / 2);
      if (half === count) throw fail('one row cannot be split');
      const intent = result.areHalvesInFlight === true ? name : undefined;
      this.#parts.set(`${keyOf(entry)}0`, { step, rows: [first, half], intent });
      this.#parts.set(`${keyOf(entry)}1`, { step, rows: [first + half, count - half], intent });
    } else if (result.kind === 'settled') {
      const { rows, verdicts } = result.outcomes;
      if (rows.length !== count) throw fail(`${rows.length} verdicts for ${count} rows`);
      return rows.map(([index], at) => {
        const verdict = verdicts[index];
        if (verdict === undefined) throw fail(`row ${first + at} has no verdict`);
        this.verdicts.set(`${step}-${first + at}`, verdict);
        return first + at;
      });
    } else {
      // Withheld right before it would have left.
      if (result.verdict.status !== 'not-sent') throw fail('no one gives up here');
      const rows = Array.from({ length: count }, (_, at) => first + at);
      for (const row of rows) this.verdicts.set(`${step}-${row}`, result.verdict);
      return rows;
    }
    return [];
  }

  #partWith(step: number, row: number): Part | undefined {
    for (const part of this.#parts.values()) {
      const [first, count] = part.rows;
      if (part.step === step && row >= first && row < first + count) return part;
    }
    return undefined;
  }
}

type Fail = (why: string) => Violation;

type Preparing = Extract<JournalLine['entry'], { type: 'preparing' | 'prepared' | 'unprepared' }>;

function prepare({ ids, open }: Provisioning, { entry, name, fail }: { entry: Preparing; name: string; fail: Fail }) {
  if (entry.type === 'preparing') {
    if (open !== undefined) throw fail(`${open.what} is under way`);
    return { ids, open: { what: entry.what, entry: name, wasReported: false } };
  }
  if (entry.type === 'unprepared') {
    return { ids, open: entry.why === 'not-made' || open === undefined ? undefined : { ...open, wasReported: true } };
  }
  if (open === undefined) throw fail('nothing was about to be made');
  if (entry.ids.length !== ids.length + 1 || ids.some((id, at) => id !== entry.ids[at])) {
    throw fail(`${entry.ids.join(' ')} do not go on from ${ids.join(' ')}`);
  }
  return { ids: entry.ids, open: undefined };
}

function keyOf({ step, request, part }: RequestKey): string {
  return `${step}/${request}/${part}`;
}
