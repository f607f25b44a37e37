import { join } from 'node:path';
import type { JournalEntry } from '../journal/entry-format.js';
import { readJournal } from '../journal/reader.js';
import { keyOf, RunState } from '../journal/replay.js';
import { visitRowVerdicts } from '../journal/row-verdicts.js';
import { JOURNAL_FILE, type Plan, type PlannedStep } from '../plan/format/plan-file.js';
import type { Files } from '../storage/files.js';

/** From before a row's request could first have left to after its last outcome, by the clocks of the machines that noted it. */
export interface SentTime {
  readonly fromMs: number;
  readonly toMs: number;
  readonly hosts: readonly string[];
}

/**
 * What a run knows of the messages of its sms steps: when the request of each was under way, and which the service is known
 * to have accepted, from its own answers, receipts or exports; what a person said is not among that. 5 bytes a planned row.
 */
export class SentRecord {
  readonly #steps = new Map<number, StepRecord>();
  readonly #state = new RunState();
  #host = '';

  static async read(files: Files, directory: string, plan: Plan): Promise<SentRecord> {
    const record = new SentRecord(plan.steps.filter(({ kind }) => kind === 'sms'));
    await readJournal(files, join(directory, JOURNAL_FILE), (line) => record.#apply(line.entry));
    return record;
  }

  private constructor(steps: readonly PlannedStep[]) {
    for (const { number, counts } of steps) {
      const { planned } = counts;
      this.#steps.set(number, { requests: new Uint32Array(planned), accepted: new Uint8Array(planned), times: [] });
    }
  }

  /** For each planned row of a step 1 where the service is known to have accepted it. */
  acceptedOf(step: number): Readonly<Uint8Array> {
    return this.#steps.get(step)?.accepted ?? new Uint8Array();
  }

  /** Undefined for a row whose request was never begun. */
  timeOf(step: number, row: number): SentTime | undefined {
    const record = this.#steps.get(step);
    return record?.times[record.requests[row] ?? 0];
  }

  #apply(entry: JournalEntry): void {
    if (entry.type === 'open') this.#host = entry.host;
    if (entry.type === 'intent') {
      const record = this.#steps.get(entry.step);
      record?.requests.fill(entry.request, entry.rows[0], entry.rows[0] + entry.rows[1]);
      this.#noteTime(record, entry);
    }
    if (entry.type === 'outcome' && this.#state.step(entry.step).open.has(keyOf(entry))) {
      this.#noteTime(this.#steps.get(entry.step), entry);
    }
    visitRowVerdicts(entry, this.#state, ({ step, row, verdict, by }) => {
      const accepted = this.#steps.get(step)?.accepted;
      const isKnown = verdict?.status === 'accepted' && by?.startsWith(PERSON) !== true;
      if (accepted !== undefined) accepted[row] = isKnown ? 1 : 0;
    });
    this.#state.apply(entry);
  }

  #noteTime(record: StepRecord | undefined, { request, at }: { request: number; at: number }): void {
    if (record === undefined) return;
    const known = record.times[request];
    if (known === undefined) {
      record.times[request] = { fromMs: at, toMs: at, hosts: [this.#host] };
      return;
    }
    known.fromMs = Math.min(known.fromMs, at);
    known.toMs = Math.max(known.toMs, at);
    if (!known.hosts.includes(this.#host)) known.hosts.push(this.#host);
  }
}

/** Begins the `by` of what a person said. */
export const PERSON = 'person';

interface StepRecord {
  /** Of each planned row the number of its request; 0 where it was not begun. */
  readonly requests: Uint32Array;
  readonly accepted: Uint8Array;
  /** By the number of the request. */
  readonly times: ({ fromMs: number; toMs: number; hosts: string[] } | undefined)[];
}
