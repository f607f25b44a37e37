import { createContext } from '../../src/command/context.js';
import { lockDepsOf } from '../../src/command/env.js';
import { planJob } from '../../src/command/plan-input.js';
import { runVerb } from '../../src/command/runner.js';
import type { Terminal } from '../../src/command/terminal.js';
import { InternalError, UserError } from '../../src/domain/errors.js';
import type { Job } from '../../src/job/job.js';
import { type RetryOf, readPlan } from '../../src/plan/format/plan-file.js';
import { readRunRows } from '../../src/report/run-rows.js';
import { createRandom } from '../../src/sandbox/random.js';
import { joinReceipts } from '../../src/settle/settle-receipts.js';
import { abandon } from '../../src/verbs/abandon.js';
import { prune } from '../../src/verbs/prune.js';
import { report } from '../../src/verbs/report.js';
import { settle } from '../../src/verbs/settle.js';
import { applyRun, retryRows, runLoadedJob, sendTest } from '../command/give-verb.js';
import type { Mishap } from '../world/process.js';
import { Violation } from '../world/violation.js';
import { WalkInputs } from './walk-inputs.js';
import { createJob } from './walk-job.js';
import { assertLaw, assertNothingLost, OWN_NUMBER } from './walk-law.js';
import { appendReceipts, aReceiptOf, STATES } from './walk-receipts.js';
import { fixRejections } from './walk-rejections.js';
import { JOB, WalkRuns } from './walk-runs.js';
import { type Ended, HOUR, pick, WalkWorld } from './walk-world.js';

/** What a command may be refused with; anything else that it throws is a bug. */
const REFUSALS = ['plan-mismatch', 'bad-flag', 'bad-plan', 'lock-held', 'interrupted', 'guard'];

export const NO_COUNTS = {
  ...{ commands: 0, deaths: 0, settled: 0, retried: 0, accepted: 0, fed: 0, refused: 0 },
  ...{ drafts: 0, forgotten: 0, late: 0, pruned: 0, abandoned: 0, tests: 0 },
};

/** What a person, or a night, does with one job; and the law that no row is accepted twice, whatever that is. */
export class Walk {
  readonly world: WalkWorld;
  readonly runs: WalkRuns;
  readonly job: Job;
  readonly trail: string[] = [];
  readonly counts = { ...NO_COUNTS };
  readonly #inputs: WalkInputs;
  /** Runs that are not deleted. */
  readonly #kept = new Set<string>();
  /** Runs that a person let go, or wanted to. */
  readonly #abandoned = new Set<string>();

  constructor(seed: number) {
    this.world = new WalkWorld(seed);
    this.runs = new WalkRuns(this.world);
    this.#inputs = new WalkInputs(this.world);
    this.job = createJob(2 + (seed % 3));
    this.deliver();
    this.deliver();
  }

  deliver(): void {
    this.#inputs.deliver();
  }

  /** Operations that failed, and whose command ended well. */
  readonly unreported = new Set<string>();
  #adopts = false;

  async run(death?: Mishap): Promise<void> {
    await this.#give('run', (host) => runLoadedJob(this.job, { adopt: this.#adopts, json: true }, host), death);
  }

  async plan(death?: Mishap): Promise<void> {
    await this.#give('plan', (host) => this.#planInput(host), death);
  }

  async apply(run: string, death?: Mishap): Promise<void> {
    const flags = { ...this.#flagsOf(run), confirm: undefined, ignoreChangedInputs: true };
    await this.#give(`apply ${run}`, (host) => applyRun(flags, host), death);
  }

  /** A person looks at some of its messages on a phone. */
  async test(run: string, count: number, death?: Mishap): Promise<void> {
    const flags = { of: this.runs.directoryOf(run), to: OWN_NUMBER, count, adopt: this.#adopts, json: true };
    const ended = await this.#give(`test ${run} --count ${count}`, (host) => sendTest(flags, host), death);
    if (ended.stdout !== '') this.counts.tests += 1;
  }

  async report(run: string, death?: Mishap): Promise<void> {
    const flags = { ...this.#flagsOf(run), campaign: undefined };
    await this.#give(`report ${run}`, (host) => runVerb('report', report, flags, host), death);
  }

  async retry(run: string, only: RetryOf['only'], code: string | undefined, death?: Mishap): Promise<void> {
    const flags = { ...this.#flagsOf(run), only, code: code === undefined ? undefined : [code] };
    const name = `retry ${run} --only ${only} ${code ?? ''}`;
    const ended = await this.#give(name, (host) => retryRows(flags, host), death);
    if (ended.exitCode === 0 && JSON.parse(ended.stdout).state === 'planned') this.counts.retried += 1;
  }

  async settleByExport(run: string, seed: number, death?: Mishap): Promise<void> {
    const rows = this.world.exportMessages(seed);
    const names = ['umid', 'subaccountid', 'direction', 'status_value', 'msisdn', 'clientmessageid'] as const;
    const path = `/exports/${seed}.csv`;
    this.world.tables.set(path, { columns: names, rows: rows.map((row) => names.map((name) => row[name] ?? '')) });
    await this.#settle(run, { export: [path], assume: undefined, confirm: undefined }, death);
  }

  /** A person says the truth, or that all was sent, which may be wrong and sends nothing. */
  async settleByDecision(run: string, isHonest: boolean, death?: Mishap): Promise<void> {
    const ids = await this.#listInDoubt(run);
    const sent = ids.filter((id) => this.world.hasSeen(id)).length;
    const assume = !isHonest || sent === ids.length ? 'sent' : 'not-sent';
    if (assume === 'not-sent' && sent > 0) return;
    await this.#settle(run, { export: undefined, assume, confirm: ids.length }, death);
  }

  /** Delivery receipts of some of the run's messages come in. */
  async listen(run: string, seed: number, death?: Mishap): Promise<void> {
    const random = createRandom(seed);
    const own = this.world.taken.filter(({ clientMessageId }) => clientMessageId.startsWith(`${run}-`));
    const told = own.filter(() => random() < 0.5);
    const lines = told.flatMap((taken) => pick(STATES, random).map((state) => aReceiptOf(taken, state)));
    const join = async (host: Terminal) => {
      const { runtime } = host;
      if (runtime === undefined) throw new Error('a walk has a world');
      const directory = this.runs.directoryOf(run);
      await appendReceipts(host, directory, lines);
      await joinReceipts({ directory, plan: await readPlan(runtime.files, directory) }, lockDepsOf(runtime));
      return 0;
    };
    await this.#give(`listen ${run}`, join, death);
  }

  /**
   * The rejected rows of a run come back as a new file, as the run last wrote it or as it writes it now; in most of them someone
   * fixed something, and some rows were taken out. The person that a row is about is named in it, whatever the number is now.
   */
  async feed(run: string, seed: number): Promise<void> {
    const random = createRandom(seed);
    if (random() < 0.5) await this.report(run);
    // A wrong id of a run that is deleted later is known to no one: the reference asks for neither.
    const mayBeForged = !this.runs.isClaimant(run);
    const results = mayBeForged ? this.runs.readOutput(run, 'results') : [];
    const rejections = this.runs.readOutput(run, 'rejections');
    // The id of a row ends with its number in the file.
    const files = new Map(
      rejections.flatMap(({ _file: file = '', _row: row = '', _rowId: id = '' }) =>
        id.endsWith(`-${row}`) ? [[file, id.slice(0, -row.length)] as const] : [],
      ),
    );
    const acceptedIds = results.flatMap(({ _file: file = '', _row: row = '' }) =>
      files.has(file) ? `${files.get(file)}${row}` : [],
    );
    const table = fixRejections(rejections, acceptedIds, random);
    if (table === undefined) return;
    if (!this.runs.isBegun(run)) this.counts.drafts += 1;
    this.#inputs.add(table);
    this.counts.fed += 1;
  }

  /** A person lets a plan or a run go. */
  async abandon(run: string, death?: Mishap): Promise<Ended> {
    this.#abandoned.add(run);
    const flags = this.#flagsOf(run);
    const ended = await this.#give(`abandon ${run}`, (host) => runVerb('abandon', abandon, flags, host), death);
    if (ended.exitCode === 0) this.counts.abandoned += 1;
    return ended;
  }

  /** The rows of runs that ended an hour ago are deleted. */
  async prune(death?: Mishap): Promise<Ended> {
    const flags = { job: JOB, olderThan: 3_600_000, keepLast: 0, dryRun: false, adopt: this.#adopts, json: true };
    const ended = await this.#give('prune', (host) => runVerb('prune', prune, flags, host), death);
    if (ended.exitCode === 0) this.counts.pruned += JSON.parse(ended.stdout).pruned.length;
    return ended;
  }

  /** Someone deletes the directory of a run that has claimed rows: the registry alone knows of them then. */
  async forget(run: string): Promise<void> {
    const source = this.runs.sourceOf(run);
    const mayGo = this.runs.isBegun(run) && this.runs.isClaimant(run) && !this.#kept.has(run);
    if (!mayGo || (source !== undefined && !this.runs.names.includes(source))) return;
    // Receipts of what it sent itself are known to it alone.
    if (source !== undefined) this.#kept.add(source);
    // One that was not at its end is missed by every command until a person says that it is gone.
    this.#adopts ||= !this.runs.stateOf(run).isFinished;
    this.counts.forgotten += 1;
    const remove = async ({ runtime }: Terminal) => {
      await runtime?.files.remove(this.runs.directoryOf(run));
      await runtime?.files.syncDirectory(JOB);
      return 0;
    };
    await this.#give(`forget ${run}`, remove, undefined);
  }

  /** A person says that nothing was sent, and retries it; then the receipts come, and tell that all of it was. */
  async settleWrongly(run: string, death?: Mishap): Promise<void> {
    const ids = await this.#listInDoubt(run);
    const sent = this.world.taken.filter(({ clientMessageId }) => ids.includes(clientMessageId));
    if (ids.length === 0 || sent.length < ids.length) return;
    await this.#settle(run, { exported: undefined, assume: 'not-sent', confirm: ids.length });
    await this.retry(run, 'not-sent', undefined, death);
    const lines = sent.map((taken) => aReceiptOf(taken, 'delivered'));
    await this.#give(`receipts ${run}`, (host) => appendReceipts(host, this.runs.directoryOf(run), lines), undefined);
    this.counts.late += 1;
  }

  /** Any other output comes back as input: that is refused, and the file taken out again. */
  async feedOutput(run: string, output: string): Promise<void> {
    const records = this.runs.readOutput(run, output);
    if (records.length === 0) return;
    const table = { columns: Object.keys(records[0]!), rows: records.map((each) => Object.values(each)) };
    const path = this.#inputs.add(table);
    const { error } = await this.world.give((host) => this.#planInput(host));
    this.#inputs.removeLast();
    if (error instanceof UserError && REFUSALS.includes(error.code)) return;
    const said = error instanceof UserError ? error.problems.map(({ where }) => where) : [];
    if (!said.includes(path.slice(1))) throw new Violation(`${output} of run ${run} is input: ${error ?? 'no error'}`);
    this.counts.refused += 1;
  }

  /** All faults end; whatever can be sent is. What is in doubt is settled by a whole export, and what that lacks by a person. */
  async finish(): Promise<void> {
    this.world.endFaults();
    // Those that were cut short.
    for (const run of this.runs.names) if (this.#abandoned.has(run)) await this.abandon(run);
    for (let round = 0; round < 4; round++) {
      for (const run of this.runs.names) if (!this.runs.stateOf(run).isFinished) await this.apply(run);
      await this.run();
      await this.world.pass(3 * HOUR);
      for (const run of this.runs.namesWith('in doubt')) await this.settleByExport(run, WHOLE_EXPORT);
      for (const run of this.runs.namesWith('in doubt')) await this.settleByDecision(run, true);
      for (const run of this.runs.namesWith('not-sent')) await this.retry(run, 'not-sent', undefined);
      for (const run of this.runs.namesWith('unprocessed')) await this.retry(run, 'unprocessed', undefined);
    }
    for (const run of this.runs.names) await this.report(run);
    assertNothingLost(this.world, this.runs);
  }

  #flagsOf(run: string) {
    return { run: this.runs.directoryOf(run), adopt: this.#adopts, json: true };
  }

  #planInput(host: Terminal): Promise<number> {
    return planJob(createContext(host, this.#adopts), this.job, false).then(() => 0);
  }

  async #settle(run: string, means: object, death?: Mishap): Promise<void> {
    const none = { receipts: undefined, export: undefined, assume: undefined, confirm: undefined, step: undefined };
    const flags = { ...this.#flagsOf(run), ...none, ...means };
    const told = Object.values(means).filter((value) => value !== undefined);
    const name = `settle ${run} ${told.join(' ')}`;
    const { stdout } = await this.#give(name, (host) => runVerb('settle', settle, flags, host), death);
    if (stdout === '') return;
    const { accepted, rejected, notSent } = JSON.parse(stdout).settled;
    this.counts.settled += accepted + rejected + notSent;
  }

  async #give(name: string, task: (host: Terminal) => Promise<number>, death: Mishap | undefined): Promise<Ended> {
    const ended = await this.world.give(task, death);
    const { exitCode, error, failed } = ended;
    this.counts.commands += 1;
    if (exitCode === undefined || failed !== undefined) this.counts.deaths += 1;
    if (failed !== undefined && exitCode === 0 && death?.code !== undefined) this.unreported.add(failed);
    const told = error instanceof Error ? error.message : `exit ${exitCode ?? `died: ${death?.kind} ${death?.after}`}`;
    this.trail.push(`${name}: ${told}`);
    const isRefusal = error instanceof UserError && REFUSALS.includes(error.code);
    const isOfDisk = failed !== undefined && told.includes(death?.code ?? 'short write');
    if (error !== undefined && !isRefusal && !isOfDisk) {
      const said = error instanceof InternalError || error instanceof Error ? error.stack : String(error);
      throw new Violation(`${name} fails: ${said}`);
    }
    this.counts.accepted = this.world.taken.length;
    assertLaw(this.world, this.runs);
    return ended;
  }

  async #listInDoubt(run: string): Promise<string[]> {
    const directory = this.runs.directoryOf(run);
    const ids: string[] = [];
    await this.world.give(async ({ runtime }) => {
      if (runtime === undefined) return 1;
      const plan = await readPlan(runtime.files, directory);
      const { rows } = await readRunRows(runtime.files, { directory, plan });
      for (const { step, row } of rows.listInDoubt()) ids.push(`${run}-${step}-${row}`);
      return 0;
    });
    return ids;
  }
}

/** Of exports: one that is asked for without filters (its random numbers begin below one half). */
export const WHOLE_EXPORT = 1;
