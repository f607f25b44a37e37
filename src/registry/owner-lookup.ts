import { remember } from '../domain/is-object.js';
import { isLeftOutCode } from '../domain/row-codes.js';
import { matchSteps } from '../job/planned-job.js';
import { atAnyTime, atOccurrence, type RowId, readRowId } from '../kinds/ids.js';
import type { RowRefusal } from '../kinds/step-kind.js';
import { digestOfRows, type Plan, type PlannedInput, type PlannedStep } from '../plan/format/plan-file.js';
import { foldFirst } from '../plan/format/run-record.js';
import { type FoundRow, type RowOwners, rejectSent, rejectUnknown, skip } from '../plan/reimport/reimported-rows.js';
import type { JobRows, KnownFile } from './job-rows.js';
import type { PastRun } from './read-runs.js';
import { createTwins } from './twins.js';

type Step = Parameters<RowOwners['find']>[0];

/**
 * Who has a row: the plan that claimed it last, by the memory; else the run that took its file. The plan here may send it only where that one
 * is there, and did not send it: it refused the row, or the service did. Where none has it, a plan that was never begun must have refused it.
 */
export class OwnerLookup implements RowOwners {
  readonly #rows: JobRows;
  readonly #plan: Pick<Plan, 'id' | 'job' | 'occurrence' | 'retryOf'>;
  readonly #twins: ReturnType<typeof createTwins>;
  /** By plan id: which steps of the job its steps are by now. */
  readonly #steps = new Map<string, ReturnType<typeof matchSteps>>();

  /** `plan`: that would send the rows. */
  constructor(rows: JobRows, plan: Pick<Plan, 'id' | 'job' | 'occurrence' | 'retryOf'>) {
    this.#rows = rows;
    this.#plan = plan;
    this.#twins = createTwins(rows, plan);
  }

  findDigest(kind: string, contentSha256: string): string | undefined {
    return this.#rows.findDigest(kind, contentSha256);
  }

  async find(step: Step, ownId: string): Promise<FoundRow> {
    const id = readRowId(ownId);
    if (id === undefined) return { digest: undefined, refusal: undefined };
    const refusal = await this.#refuse(step, id);
    if (refusal === undefined) await this.#twins.load(id.file);
    const known = this.#rows.filesOf(id.file).find((each) => this.#isSame(each, step));
    return { digest: known && digestOfRows(known.input), refusal };
  }

  refuseTwin(step: number, id: string, key: string): RowRefusal | undefined {
    return this.#twins.refuse(step, id, key);
  }

  async #refuse(step: Step, id: RowId): Promise<RowRefusal | undefined> {
    const owners = this.#rows.registry.claims.listOwners(step.kind, id, this.#plan);
    const owner = owners.findLast((plan) => plan !== this.#plan.id);
    const claimed = owner === undefined ? undefined : await this.#askOwner(owner, step, id);
    const elsewhere = claimed ?? this.#askOtherSteps(step, id) ?? this.#askOtherKind(step, id);
    const refusal = elsewhere ?? (owner === undefined ? await this.#askReaders(step, id) : undefined);
    if (refusal !== undefined) return refusal;
    const sender = await this.#rows.findReceived(step.kind, id, this.#plan);
    if (sender === undefined) return undefined;
    return rejectSent(`a delivery receipt shows that run ${sender} sent the row with its _rowId`);
  }

  /**
   * Other plans that read a file: what only this one reads is of another job or account, and its rejections are new rows here. A row that stands in
   * both counts once: `read-again`.
   */
  #knownFrom(file: string): readonly KnownFile[] {
    return this.#rows.filesOf(file).filter(({ plan }) => plan.id !== this.#plan.id);
  }

  /** A plan that has claimed the row. */
  async #askOwner(plan: string, step: Step, id: RowId): Promise<RowRefusal | undefined> {
    const { kind } = step;
    const run = this.#rows.runs.get(plan);
    if (run === undefined)
      return rejectSent(`plan ${plan} claimed the row, ${this.#describeGone(plan)}, and may have sent it`);
    if (run.state === 'planned') return skip('retried', `Claimed by plan ${plan}, which was never applied`);
    const isFree = await this.#isRefusedIn(run, kind, id);
    if (!isFree) return skip('retried', `Claimed by plan ${plan}, which reports what became of it`);
    const places = await this.#rows.placesIn(run, kind, id);
    const own = places.map(({ step: source }) => this.#findOwnStep(run, { source, files: source.inputs }, step));
    return own.every((each) => each !== undefined) ? own[0] : undefined;
  }

  /** Another step of the plans that read the file of the row, which is as the one here, and had the file too. */
  #askOtherSteps(step: Step, id: RowId): RowRefusal | undefined {
    const known = this.#knownFrom(id.file);
    const begun = known.filter(({ plan }) => this.#rows.registry.runs.has(plan.id));
    for (const { plan, step: source, input } of begun.length > 0 ? begun : known) {
      const own = this.#findOwnStep({ plan }, { source, files: [input] }, step);
      if (own !== undefined) return own;
    }
    return undefined;
  }

  /** Another run that took the file of the row for steps of the kind here, where one of another kind refused it. */
  #askOtherKind({ kind }: Step, { file }: RowId): RowRefusal | undefined {
    const [run] = this.#rows.takersAs(kind, file, this.#plan);
    if (run === undefined) return undefined;
    return this.#rows.runs.has(run)
      ? skip('retried', `Run ${run} read the same row, and reports what became of it`)
      : rejectSent(`run ${run} read the same row, ${this.#describeGone(run)}, and may have sent it`);
  }

  /** The runs that took the file of the row as often as it did, and as this plan does; else the plans that read it, and were never begun. */
  async #askReaders(step: Step, id: RowId): Promise<RowRefusal | undefined> {
    const known = this.#knownFrom(id.file);
    const kind = known[0]?.step.kind ?? step.kind;
    const { job } = this.#plan;
    const now = atOccurrence(id.file, foldFirst(this.#plan.occurrence));
    const isOnce = now === atAnyTime(id.file);
    const takers = this.#rows.takersOf(id.file, job).map((run) => ({ run, file: id.file }));
    if (now !== id.file && !isOnce) takers.push(...this.#rows.takersOf(now, job).map((run) => ({ run, file: now })));
    for (const { run, file } of takers) {
      const refusal = await this.#askReader(run, kind, { ...id, file });
      if (refusal !== undefined) return refusal;
    }
    if (takers.length > 0 || known.length === 0) return undefined;
    for (const { plan } of known) {
      const run = this.#rows.runs.get(plan.id);
      const isOfTime = now === id.file || !isOnce;
      if (isOfTime && run !== undefined && (await this.#isRefusedIn(run, kind, id))) return undefined;
    }
    return rejectUnknown('no run has a rejected row with its _rowId, expected the _rowId unchanged');
  }

  async #askReader(plan: string, kind: string, id: RowId): Promise<RowRefusal | undefined> {
    const run = this.#rows.runs.get(plan);
    if (run === undefined)
      return rejectUnknown(
        `run ${plan} ${this.#describeGone(plan)}, and nothing shows any more what became of its rows`,
      );
    const places = await this.#rows.placesIn(run, kind, id);
    if (await this.#isRefusedIn(run, kind, id)) return undefined;
    return places.some(({ state }) => typeof state === 'number')
      ? rejectSent(`in run ${plan} the row with its _rowId was not rejected: it was sent, or may yet be sent`)
      : rejectUnknown(`run ${plan} has no rejected row with its _rowId, expected the _rowId unchanged`);
  }

  /** Whether a run did not send a row; a retry of rows that `where` left out takes those too. */
  async #isRefusedIn(run: PastRun, kind: string, id: RowId): Promise<boolean> {
    const places = await this.#rows.placesIn(run, kind, id);
    const takesLeftOut = this.#plan.retryOf?.run === run.plan.id && isLeftOutCode(this.#plan.retryOf.only);
    for (const place of places) {
      const isLeftOut = takesLeftOut && place.state === 'left-out';
      if (!isLeftOut && !(await this.#rows.isRefusedIn(run, place))) return false;
    }
    return places.length > 0;
  }

  #describeGone(run: string): string {
    const { pruned } = this.#rows.registry.recordOf(run);
    return pruned === undefined ? 'is gone' : `was pruned on ${new Date(pruned.at).toISOString().slice(0, 10)}`;
  }

  /**
   * Skips a row of files of a step, in a run where another step is as the one which now reads its rejections, and had one of the files itself:
   * there each row has its own end. Undefined where the rejections are those of the step itself, or it never had the files.
   */
  #findOwnStep(
    { plan }: { readonly plan: Plan },
    { source, files }: { source: PlannedStep; files: readonly PlannedInput[] },
    step: Step,
  ): RowRefusal | undefined {
    if (this.#isSame({ plan, step: source }, step)) return undefined;
    const digests = new Set(files.map(digestOfRows));
    const own = plan.steps.filter(
      ({ kind, inputs }) => kind === step.kind && inputs.some((input) => digests.has(digestOfRows(input))),
    );
    const isItself = source.kind === step.kind && own.length === 1;
    const other = isItself ? undefined : own.find((each) => each !== source);
    if (other === undefined) return undefined;
    return skip('retried', `Step ${other.number} of run ${plan.id} read the same row, and reports what became of it`);
  }

  /** Whether a planned step is that one, wherever it stands in the job by now. */
  #isSame({ plan, step: { kind, number } }: { plan: Plan; step: PlannedStep }, step: Step): boolean {
    const now = remember(this.#steps, plan.id, () => matchSteps(plan.job, this.#plan.job));
    return kind === step.kind && now[number - 1]?.at === step.number - 1;
  }
}
