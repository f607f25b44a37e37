import { basename } from 'node:path';
import { ROW_KINDS, type RowKind } from '../../src/domain/areas.js';
import { isRowStep } from '../../src/job/job.js';
import type { JournalLine, StageEntry } from '../../src/journal/entry-format.js';
import { readRunName } from '../../src/plan/format/run-directories.js';
import { readSealed } from '../../src/plan/format/sealed-json.js';
import type { MemoryDocument } from '../../src/registry/memory-file.js';
import { ACTION_EXAMPLES, type Arrived, EXAMPLES } from '../kinds/examples.js';
import { memoriesAmong } from '../registry/memory-on-disk.js';
import type { CrashDisk } from '../world/crash-disk.js';
import { type Done, Kept, type Service } from '../world/service.js';
import type { SimProcess } from '../world/timeline.js';
import { Violation } from '../world/violation.js';
import type { World } from '../world/world.js';
import { JournalView } from './journal-view.js';
import { findRunDirectory, readPlannedRows, type StepRows } from './planned-rows.js';
import { RunRecord } from './run-record.js';
import type { Scenario } from './scenario.js';
import type { SimReceipts } from './sim-receipts.js';

/** What a request is about. */
export type Subject =
  /** Rows of the input, each as the service knows it. */
  | { readonly type: 'rows'; readonly step: number; readonly kind: RowKind; readonly rows: readonly string[] }
  /** Something that a step makes before its first row. */
  | { readonly type: 'thing'; readonly step: number; readonly what: string }
  /** A change by a step without rows. */
  | { readonly type: 'action'; readonly step: number }
  /** It changes nothing. */
  | { readonly type: 'read' };

/** Says what a request is about, from its method, path and body alone; a job has one step of a kind with rows. */
export function subjectOf(request: Arrived, { job: { steps } }: Scenario): Subject {
  const { method, path } = request;
  for (const kind of Object.keys(ROW_KINDS) as RowKind[]) {
    const rows = EXAMPLES[kind].rowsIn(request);
    if (rows.length > 0) return { type: 'rows', step: steps.findIndex((step) => step.kind === kind) + 1, kind, rows };
  }
  if (method === 'GET') return { type: 'read' };
  const asks = (step: Scenario['job']['steps'][number]) =>
    !isRowStep(step) && ACTION_EXAMPLES[step.kind].asks(request, { ...step });
  const action = steps.findIndex(asks);
  if (action !== -1) return { type: 'action', step: action + 1 };
  const maker = steps.findIndex(({ kind }) => kind in EXAMPLES && EXAMPLES[kind as RowKind].making !== undefined);
  return { type: 'thing', step: maker + 1, what: path.slice(path.lastIndexOf('/') + 1, -1) };
}

/** A request that left. */
export interface Leave {
  readonly subject: Subject;
  /** The journal's entry under which it did; undefined where it needs none. */
  readonly entry: string | undefined;
}

type SentRows = Readonly<{ step: number; rows: readonly number[]; process: SimProcess }>;

/**
 * Watches a job at every step: what leaves, what the service does with it, and what becomes durable in the journal of its run.
 * `record` is what a power cut at this moment would leave of it.
 */
export class RunWatch {
  /** Where workers send: the attempt that a process may make for just these rows; undefined where there is none. */
  attemptOf: ((rows: SentRows) => string | undefined) | undefined;
  record = new RunRecord();
  /** What the service did for this job. */
  readonly kept = new Kept();
  readonly #disk: CrashDisk;
  readonly #scenario: Scenario;
  readonly #service: Service;
  readonly #receipts: SimReceipts;
  readonly #view = new JournalView();
  #directory: string | undefined;
  #rows: readonly StepRows[] = [];
  /** Names of the lines that count, in their order. */
  #counted: string[] = [];
  /** Entries under which something left, and those under which something was processed. */
  readonly #used = new Set<string>();
  readonly #done = new Set<string>();

  constructor(scenario: Scenario, { disk, service }: World, receipts: SimReceipts) {
    this.#disk = disk;
    this.#scenario = scenario;
    this.#service = service.service;
    this.#receipts = receipts;
  }

  /** Of each step, what the plan says of its rows; none before there is a plan. */
  get rows(): readonly StepRows[] {
    return this.#rows;
  }

  get directory(): string | undefined {
    return this.#directory;
  }

  onSynced(path: string): void {
    const own = `/out/${this.#scenario.job.name}/`;
    if (path.startsWith(own) && path.endsWith('/journal.ndjson')) this.look();
  }

  /** Nothing that may not be repeated leaves without an entry of its own that a power cut would leave on disk. */
  onLeave(request: Arrived, process: SimProcess): Leave {
    const subject = subjectOf(request, this.#scenario);
    if (subject.type === 'read') return { subject, entry: undefined };
    this.look();
    const entry = this.#entryOf(subject, process);
    if (entry === undefined)
      throw new Violation(`${describe(subject)} leaves (${request.path}) without a durable entry`);
    if (subject.type === 'rows' && this.#used.has(entry)) {
      throw new Violation(`${describe(subject)} leaves twice under one entry of the journal`);
    }
    if (subject.type === 'rows') this.#checkStage(subject);
    if (this.#used.size === 0) this.#checkPlan();
    this.#checkMemory();
    this.#used.add(entry);
    return { subject, entry };
  }

  /** Its stage is begun: the one before it has passed, all of its rows have their outcomes, and a power cut would leave that. */
  #checkStage({ step, kind, rows }: Extract<Subject, { type: 'rows' }>): void {
    const { planned = [], stages = [] } = this.#rows[step - 1] ?? {};
    const stageOf = (row: string) => stages[planned.indexOf(row)] ?? 1;
    const passed = this.record.passedOf(step);
    const early = rows.find((row) => stageOf(row) > passed + 1);
    if (early !== undefined)
      throw new Violation(`${kind} ${early} of stage ${stageOf(early)} leaves, ${passed} passed`);
    const open = stages.findIndex((stage, row) => stage <= passed && !this.record.verdicts.has(`${step}-${row}`));
    if (open !== -1) throw new Violation(`stage ${stages[open]} of step ${step} has passed, and row ${open} is open`);
  }

  /** One entry is good for one time, and no row is done twice under whatever entries. */
  onProcessed({ subject, entry }: Leave, request: Arrived, done: Done): void {
    this.kept.note(request, done);
    if (entry === undefined || subject.type === 'read') return;
    if (this.#done.has(entry)) throw new Violation(`${describe(subject)} is done twice under one entry`);
    this.#done.add(entry);
    if (subject.type !== 'rows' || EXAMPLES[subject.kind].isHarmlessTwice) return;
    for (const row of subject.rows) {
      const times = this.kept.timesOf(subject.kind, row);
      if (times > 1) throw new Violation(`${subject.kind} ${row} is done ${times} times`);
    }
  }

  /** Looks at what of the journal is durable by now. */
  look(): void {
    const directory = findRunDirectory(this.#disk, this.#scenario);
    if (directory === undefined) return;
    // A plan that was not begun may be made anew.
    const isFixed = directory === this.#directory && this.#counted.length > 0;
    if (!isFixed) this.#rows = readPlannedRows(this.#disk, this.#scenario, directory);
    this.#directory = directory;
    const bytes = this.#disk.readDurable(`${this.#directory}/journal.ndjson`);
    const look = bytes === undefined ? undefined : this.#view.look(bytes);
    if (look === undefined) return;
    const names = look.lines.map(({ epoch, seq }) => `${epoch}/${seq}`);
    if (look.isAnew) this.#checkKept(names);
    this.record = look.isAnew ? new RunRecord() : this.record;
    const checked = new Set(look.isAnew ? this.#counted : []);
    this.#counted = look.isAnew ? names : [...this.#counted, ...names];
    for (const [index, line] of look.lines.entries()) {
      const settled = this.record.apply(line);
      // What came since, such as a receipt, says nothing of a line that was durable before it.
      if (!checked.has(names[index] ?? '')) this.#checkFacts(line, settled);
    }
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
      const strange = entry.ids.find((id) => !this.#service.made.includes(id));
      if (strange !== undefined) throw new Violation(`${strange} is noted as made, and was not`);
    }
    if (entry.type === 'stage') this.#checkJudgement(entry);
    if (entry.type !== 'outcome' && entry.type !== 'settle') return;
    const { kind, planned = [] } = this.#rows[entry.step - 1] ?? {};
    if (kind === undefined) throw new Violation(`step ${entry.step} has no rows, and an outcome of some`);
    for (const row of settled) {
      const { status } = this.record.verdicts.get(`${entry.step}-${row}`) ?? {};
      const key = planned[row] ?? '';
      if (status !== 'in-doubt' && this.kept.isTaken(kind, key) !== (status === 'accepted'))
        throw new Violation(`${kind} ${key} is ${status}, and the service knows otherwise`);
    }
  }

  /** A stage passes by itself only if it went as well as the job asks, by the verdicts of its rows and by receipts that came in time. */
  #checkJudgement({ step: number, number: stage, by, verdict, figures, receipts }: StageEntry): void {
    const { planned = [], stages = [] } = this.#rows[number - 1] ?? {};
    const rows = stages.flatMap((each, row) => (each === stage ? [row] : []));
    const statuses = rows.map((row) => this.record.verdicts.get(`${number}-${row}`)?.status);
    const count = (...of: (string | undefined)[]) => statuses.filter((status) => of.includes(status)).length;
    const what = `stage ${stage} of step ${number}`;
    const wrong = (Object.keys(figures) as (keyof typeof figures)[]).find(
      (status) => figures[status] !== count(status),
    );
    if (wrong !== undefined)
      throw new Violation(`${what} is judged by ${figures[wrong]} rows ${wrong}, not ${count(wrong)}`);
    if (count(undefined) > 0) throw new Violation(`${what} is judged, and ${count(undefined)} of its rows are open`);
    const step = this.#scenario.job.steps[number - 1];
    const { stopAbove, needReceiptsPercent } = (step?.kind === 'sms' ? step.ramp?.[stage - 1] : undefined) ?? {};
    if (by !== 'ramp' || verdict !== 'passed' || rows.length === 0 || stopAbove === undefined) return;
    const sent = count('accepted', 'rejected', 'in-doubt');
    const isBad = sent === 0 || count('rejected', 'in-doubt') * 100 > stopAbove.rejectedPercent * sent;
    if (isBad) throw new Violation(`${what} passes, and of ${sent} only ${count('accepted')} were accepted`);
    const most = stopAbove.undeliveredPercent;
    if (most === undefined && needReceiptsPercent === undefined) return;
    const fault = this.#receipts.judge(
      rows.map((row) => planned[row] ?? ''),
      receipts,
      { most, least: needReceiptsPercent, expected: count('accepted', 'in-doubt') },
    );
    if (fault !== undefined) throw new Violation(`${what} passes, and ${fault}`);
  }

  #entryOf(subject: Exclude<Subject, { type: 'read' }>, process: SimProcess): string | undefined {
    const { step } = subject;
    if (subject.type === 'action') return this.record.actionOf(step).entry;
    if (subject.type === 'thing') {
      const { open } = this.record.preparationOf(step);
      return open?.what.startsWith(`create a ${subject.what} `) ? open.entry : undefined;
    }
    const { planned = [] } = this.#rows[step - 1] ?? {};
    const rows = subject.rows.map((row) => planned.indexOf(row));
    if (this.attemptOf === undefined) return this.record.intentFor(step, rows);
    return this.record.isCovered(step, rows) ? this.attemptOf({ step, rows, process }) : undefined;
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

  /** A power cut would leave a memory of the job that knows that the run has begun: else its files would be planned, and sent, once more. */
  #checkMemory(): void {
    const own = `/out/${this.#scenario.job.name}`;
    const names = memoriesAmong(this.#disk.volume.readdirSync(own).map(String));
    const durable = names.flatMap((name) => this.#disk.readDurable(`${own}/${name}`) ?? []).at(-1);
    const { runs }: MemoryDocument = readSealed(String(durable)) ?? { runs: [] };
    const run = readRunName(basename(this.#directory ?? ''));
    if (runs.some(({ plan, begun }) => plan === run && begun !== undefined)) return;
    throw new Violation('something leaves, and that its run has begun is not durable');
  }
}

function describe(subject: Exclude<Subject, { type: 'read' }>): string {
  if (subject.type === 'rows') return `${subject.kind} ${subject.rows.join(', ')}`;
  return subject.type === 'thing' ? `a ${subject.what}` : `the change of step ${subject.step}`;
}
