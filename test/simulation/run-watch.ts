import { basename } from 'node:path';
import type { JournalLine } from '../../src/journal/entry-format.js';
import { readRunName } from '../../src/plan/format/run-directories.js';
import type { Call } from '../../src/service/transport.js';
import type { CrashDisk } from './crash-disk.js';
import { JournalView } from './journal-view.js';
import { isTaken, type LedgerRow, timesOf } from './ledger-rows.js';
import { findRunDirectory, readPlannedRows, type StepRows } from './planned-rows.js';
import { RunRecord } from './run-record.js';
import type { Scenario } from './scenario.js';
import type { Ledger } from './sim-ledger.js';
import type { Leave } from './sim-service.js';
import type { Subject } from './subject.js';
import type { SimProcess } from './timeline.js';
import { Violation } from './watch.js';

interface SentRows {
  readonly step: number;
  readonly rows: readonly number[];
  readonly process: SimProcess;
}

/**
 * Watches a job at every step: what leaves, what the service does with it, and what becomes durable in the journal of its run.
 * `record` is what a power cut at this moment would leave of it.
 */
export class RunWatch {
  /** Where workers send: the attempt that a process may make for just these rows; undefined where there is none. */
  attemptOf: ((rows: SentRows) => string | undefined) | undefined;
  record = new RunRecord();
  readonly #disk: CrashDisk;
  readonly #scenario: Scenario;
  readonly #ledger: Ledger;
  readonly #view = new JournalView();
  #directory: string | undefined;
  #rows: readonly StepRows[] = [];
  /** Names of the lines that count, in their order. */
  #counted: string[] = [];
  /** Entries under which something left, and those under which something was processed. */
  readonly #used = new Set<string>();
  readonly #done = new Set<string>();

  constructor(disk: CrashDisk, scenario: Scenario, ledger: Ledger) {
    this.#disk = disk;
    this.#scenario = scenario;
    this.#ledger = ledger;
  }

  /** Of each step, what the plan says of its rows; none before there is a plan. */
  get rows(): readonly StepRows[] {
    return this.#rows;
  }

  get directory(): string | undefined {
    return this.#directory;
  }

  onSynced(path: string): void {
    if (path.endsWith('/journal.ndjson')) this.look();
  }

  /** Nothing that may not be repeated leaves without an entry of its own that a power cut would leave on disk. */
  onLeave({ path }: Call, subject: Subject, process: SimProcess): Leave {
    if (subject.type === 'read') return { subject, entry: undefined };
    this.look();
    const entry = this.#entryOf(subject, process);
    if (entry === undefined) throw new Violation(`${describe(subject)} leaves (${path}) without a durable entry`);
    if (subject.type === 'rows' && this.#used.has(entry)) {
      throw new Violation(`${describe(subject)} leaves twice under one entry of the journal`);
    }
    if (this.#used.size === 0) this.#checkPlan();
    this.#used.add(entry);
    return { subject, entry };
  }

  /** One entry is good for one time, and no row is done twice under whatever entries. */
  onProcessed({ subject, entry }: Leave): void {
    if (entry === undefined || subject.type === 'read') return;
    if (this.#done.has(entry)) throw new Violation(`${describe(subject)} is done twice under one entry`);
    this.#done.add(entry);
    if (subject.type !== 'rows') return;
    for (const name of subject.names) {
      const times = timesOf(this.#ledger, this.describeRow(this.#stepOf(subject.kind), name));
      if (times > 1) throw new Violation(`${subject.kind} ${name} is done ${times} times`);
    }
  }

  /** Looks at what of the journal is durable by now. */
  look(): void {
    this.#directory ??= findRunDirectory(this.#disk);
    if (this.#directory === undefined) return;
    if (this.#rows.length === 0) this.#rows = readPlannedRows(this.#disk, this.#scenario, this.#directory);
    const bytes = this.#disk.readDurable(`${this.#directory}/journal.ndjson`);
    const look = bytes === undefined ? undefined : this.#view.look(bytes);
    if (look === undefined) return;
    const names = look.lines.map(({ epoch, seq }) => `${epoch}/${seq}`);
    if (look.isAnew) this.#checkKept(names);
    this.record = look.isAnew ? new RunRecord() : this.record;
    this.#counted = look.isAnew ? names : [...this.#counted, ...names];
    for (const line of look.lines) this.#checkFacts(line, this.record.apply(line));
  }

  /** What counts goes on to count, save for the last words of a runner that another has ousted; and these sent nothing. */
  #checkKept(names: readonly string[]): void {
    const kept = new Set(names);
    const lost = this.#counted.filter((name) => !kept.has(name));
    const left = lost.find((name) => this.#used.has(name));
    if (left !== undefined)
      throw new Violation(`something left under line ${left} of the journal, which does not count`);
    if (lost.length > 0 && this.#scenario.rival === undefined) {
      throw new Violation(`line ${lost[0]} of the journal counts no more, and no one else was at work`);
    }
  }

  /** What becomes durable is so at the service. */
  #checkFacts({ entry }: JournalLine, settled: readonly number[]): void {
    if (entry.type === 'prepared') {
      const strange = entry.ids.find((id) => !this.#ledger.made.includes(id));
      if (strange !== undefined) throw new Violation(`${strange} is noted as made, and was not`);
    }
    if (entry.type !== 'outcome' && entry.type !== 'settle') return;
    const { kind = '', planned = [] } = this.#rows[entry.step - 1] ?? {};
    for (const row of settled) {
      const { status } = this.record.verdicts.get(`${entry.step}-${row}`) ?? {};
      const name = planned[row] ?? '';
      const isSo = isTaken(this.#ledger, this.describeRow(entry.step, name)) === (status === 'accepted');
      if (status !== 'in-doubt' && !isSo)
        throw new Violation(`${kind} ${name} is ${status}, and the service knows otherwise`);
    }
  }

  #entryOf(subject: Exclude<Subject, { type: 'read' }>, process: SimProcess): string | undefined {
    if (subject.type === 'action') return this.record.actionOf(subject.step).entry;
    const step = this.#stepOf(subject.kind);
    if (subject.type === 'thing') {
      const { open } = this.record.preparationOf(step);
      return open?.what.startsWith(`create a ${subject.what} `) ? open.entry : undefined;
    }
    const { planned = [] } = this.#rows[step - 1] ?? {};
    const rows = subject.names.map((name) => planned.indexOf(name));
    if (this.attemptOf === undefined) return this.record.intentFor(step, rows);
    return this.record.isCovered(step, rows) ? this.attemptOf({ step, rows, process }) : undefined;
  }

  #stepOf(kind: string): number {
    return this.#rows.findIndex((rows) => rows.kind === kind) + 1;
  }

  /** A planned row, as the ledger knows it. */
  describeRow(step: number, name: string): LedgerRow {
    const { kind = '', planned = [] } = this.#rows[step - 1] ?? {};
    const mobile = this.#scenario.rows.find((row) => row.name === name)?.mobile ?? '';
    return {
      kind,
      name,
      mobile,
      messageId: `${readRunName(basename(this.#directory ?? ''))}-${step}-${planned.indexOf(name)}`,
    };
  }

  /** The plan is whole and durable before anything leaves. */
  #checkPlan(): void {
    for (const name of this.#disk.volume.readdirSync(this.#directory ?? '').map(String)) {
      if (name !== 'plan.json' && !/\.(rows|requests)\.ndjson$/.test(name)) continue;
      const path = `${this.#directory}/${name}`;
      const durable = this.#disk.readDurable(path);
      const isWhole = durable?.equals(this.#disk.volume.readFileSync(path) as Buffer) === true;
      if (!isWhole) throw new Violation(`something leaves, and ${name} of its plan is not durable`);
    }
  }
}

function describe(subject: Exclude<Subject, { type: 'read' }>): string {
  if (subject.type === 'rows') return `${subject.kind} ${subject.names.join(', ')}`;
  return subject.type === 'thing' ? `a ${subject.what}` : `the change of step ${subject.step}`;
}
