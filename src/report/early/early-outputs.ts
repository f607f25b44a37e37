import { join } from 'node:path';
import { isRowStep } from '../../job/job.js';
import type { JournalEntry } from '../../journal/entry-format.js';
import { NO_JOURNAL, type PlacedLine, readJournalOn } from '../../journal/reader.js';
import { RowStatusView } from '../../journal/row-status/row-status-view.js';
import { JOURNAL_FILE, type Plan, type PlannedStep } from '../../plan/format/plan-file.js';
import type { Files } from '../../storage/files.js';
import { OutcomeReader } from '../outcome-reader.js';
import { StepReportWriter } from '../step-report.js';

/** Outputs whose first rows are written. */
export interface BegunOutputs {
  readonly rows: RowStatusView;
  readonly reader: OutcomeReader;
  readonly writers: Map<PlannedStep, StepReportWriter>;
}

/** The run that sends, and what the machine can spare for it. */
interface SendingRun {
  readonly directory: string;
  readonly plan: Plan;
  readonly journal: { readonly durableBytes: number };
  /** Give a file its name only while this process has the job. */
  readonly files: Files;
  readonly monotonicMs: () => number;
  /** Share of the time since the last call in which this thread was at work: 0 to 1. */
  readonly busyShare: () => number;
  /** On the disk of a directory; undefined where it has no end. */
  readonly freeBytes?: ((directory: string) => Promise<number>) | undefined;
}

/** A turn lasts as long as the pause before it; there is none where sending takes half of this thread, on average. */
const PAUSE_MS = 50;
const TURN_MS = 50;
const MOST_BUSY = 0.5;
const WEIGHT_OF_LAST = 0.2;
/** Outputs take about twice the bytes of the rows, as NDJSON more. What they take must not be missing to the journal. */
const FREE_TIMES_ROWS = 8;
/** Six files are open for each. */
const MOST_STEPS = 8;
/** Entries that may change what was written of a row. */
const CHANGES: ReadonlySet<JournalEntry['type']> = new Set(['open', 'settle', 'retry']);

/**
 * Writes the outputs of a run while it sends, under temporary names: the rows of settled requests, as far as the journal is
 * on disk. `finish` writes the rest. It neither fails nor holds up the run: if anything goes wrong, or is not as usual, it gives
 * up, and the outputs are written as if there had been nothing.
 */
export class EarlyOutputs {
  readonly #run: SendingRun;
  readonly #path: string;
  /** Undefined once it has given up or finished. */
  #begun: BegunOutputs | undefined;
  /** How far the journal was read. */
  #end = NO_JOURNAL;
  /** Index of the step that is written. */
  #at = 0;
  #turn: Promise<void> | undefined;
  #pausedAtMs = 0;
  /** Average of the pauses. */
  #busy = MOST_BUSY;

  constructor(run: SendingRun) {
    const { files, directory, plan } = run;
    this.#run = run;
    this.#path = join(directory, JOURNAL_FILE);
    const rows = new RowStatusView(plan.steps, { isForReport: true });
    this.#begun = { rows, reader: new OutcomeReader(files, this.#path, rows), writers: new Map() };
    this.#pause();
  }

  /** To be called often: begins to write some rows where there is time for it. The promise is that of what is under way. */
  advance(): Promise<void> | undefined {
    const begun = this.#begun;
    if (begun === undefined || this.#turn !== undefined) return this.#turn;
    if (this.#run.monotonicMs() - this.#pausedAtMs < PAUSE_MS) return undefined;
    this.#busy += (this.#pause() - this.#busy) * WEIGHT_OF_LAST;
    if (this.#busy > MOST_BUSY) return undefined;
    this.#turn = this.#takeTurn(begun)
      .catch(() => this.#giveUp())
      .finally(() => {
        this.#turn = undefined;
        this.#pause();
      });
    return this.#turn;
  }

  /** Finishes with `finish`. Undefined: there was nothing to finish, or it failed. */
  async finish<T>(finish: (begun: BegunOutputs) => Promise<T>): Promise<T | undefined> {
    await this.#turn;
    const begun = this.#begun;
    if (begun === undefined || begun.writers.size === 0) return undefined;
    try {
      await this.#readJournal(begun, undefined);
      const finished = await finish(begun);
      this.#begun = undefined;
      return finished;
    } catch {
      await this.#giveUp();
      return undefined;
    }
  }

  /** Removes what is not finished. */
  async close(): Promise<void> {
    await this.#turn;
    await this.#giveUp();
  }

  /** How busy this thread was since the last call. */
  #pause(): number {
    this.#pausedAtMs = this.#run.monotonicMs();
    return this.#run.busyShare();
  }

  async #takeTurn(begun: BegunOutputs): Promise<void> {
    const { directory, plan, journal, monotonicMs } = this.#run;
    const untilMs = monotonicMs() + TURN_MS;
    const rowBytes = plan.steps.reduce((sum, { files }) => sum + (files?.rows.bytes ?? 0), 0);
    const freeBytes = await this.#run.freeBytes?.(directory);
    if (freeBytes !== undefined && freeBytes < rowBytes * FREE_TIMES_ROWS) return this.#giveUp();
    await this.#readJournal(begun, journal.durableBytes);
    while (monotonicMs() < untilMs && begun.writers.size <= MOST_STEPS) {
      const planned = plan.steps[this.#at];
      if (planned === undefined) return;
      const writer = await this.#openWriter(begun, planned);
      const mayWrite = (request: number) => begun.rows.isSettled(planned.number, request);
      const left = writer === undefined ? 'end' : await writer.writeSome(mayWrite);
      if (left === 'wait') return;
      if (left === 'end') this.#at += 1;
    }
  }

  /** All of it where `toBytes` is undefined. */
  async #readJournal({ rows }: BegunOutputs, toBytes: number | undefined): Promise<void> {
    const isFirst = this.#end === NO_JOURNAL;
    const visit = (line: PlacedLine) => {
      if (!isFirst && CHANGES.has(line.entry.type)) throw new Error('Rows that are written may have another end now');
      rows.apply(line);
    };
    this.#end = await readJournalOn(this.#run.files, this.#path, { from: this.#end, toBytes, visit });
  }

  /** Undefined for a step without rows. */
  async #openWriter({ rows, reader, writers }: BegunOutputs, planned: PlannedStep) {
    const { files, directory, plan } = this.#run;
    const step = plan.job.steps[planned.number - 1];
    const known = writers.get(planned);
    if (known !== undefined || step === undefined || !isRowStep(step)) return known;
    const writer = await StepReportWriter.open(files, { plan, planned, directory, rows, reader });
    writers.set(planned, writer);
    return writer;
  }

  async #giveUp(): Promise<void> {
    const begun = this.#begun;
    if (begun === undefined) return;
    this.#begun = undefined;
    await Promise.allSettled([begun.reader.close(), ...[...begun.writers.values()].map((writer) => writer.discard())]);
  }
}
