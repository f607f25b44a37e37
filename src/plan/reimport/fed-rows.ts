import type { InputRecord } from '../../input/record-reader.js';
import { type RowId, readRowId } from '../../kinds/ids.js';
import type { RowPlan } from '../../kinds/step-kind.js';
import type { Files } from '../../storage/files.js';
import type { Plan, PlannedStep } from '../format/plan-file.js';
import { countingFor, GivenRows, listPlans, type OtherPlan } from './other-plans.js';

/** The other plans of a job, as a plan in the making sees them. */
export interface FedSource {
  readonly files: Files;
  readonly jobDirectory: string;
  readonly plan: Pick<Plan, 'id' | 'occurrence' | 'job'>;
}

/**
 * Rows that a step reads from rejections files of runs: known by their ids, so that each is planned once and by one plan
 * alone, however often it is fed, and whatever was mended in it.
 */
export class FedRows {
  readonly #step: { readonly kind: string; readonly number: number };
  readonly #source: FedSource;
  readonly #describeRow: (ordinal: number) => string;
  /** By name, the rows of the step itself. */
  readonly #planned = new Map<string, number>();
  #given: GivenRows | undefined;
  #runs = new Map<string, OtherPlan>();
  readonly #loaded = new Set<string>();
  #fileRuns = new Set<string>();

  constructor(
    step: { kind: string; number: number },
    source: FedSource,
    { describeRow }: { describeRow: (ordinal: number) => string },
  ) {
    this.#step = step;
    this.#source = source;
    this.#describeRow = describeRow;
  }

  /** Reads what the rows of a batch are to be compared with. */
  async prepare(batch: readonly InputRecord[]): Promise<void> {
    for (const { ownId } of batch) {
      const row = ownId === undefined ? undefined : readRowId(ownId);
      if (row === undefined) continue;
      this.#fileRuns.add(row.run);
      const loaded = `${row.run} ${row.isPlanned}`;
      if (this.#loaded.has(loaded)) continue;
      this.#loaded.add(loaded);
      const given = this.#given ?? (await this.#readPlans());
      await given.load(row);
    }
  }

  /** Why a row is not planned; undefined where it may be. */
  check(id: string): RowPlan | undefined {
    const row = readRowId(id);
    if (row === undefined) return reject('its _rowId is not one that Volley wrote, expected it unchanged');
    const earlier = this.#planned.get(this.#nameOf(id));
    if (earlier !== undefined) return skip(`The same row stands in ${this.#describeRow(earlier)}, which is kept`);
    const plan = this.#given?.planOf(this.#step.kind, id);
    if (plan !== undefined) return skip(`Claimed by plan ${plan}, which reports what became of it`);
    const run = this.#runs.get(row.run);
    return run === undefined ? undefined : this.#checkRun(row, run);
  }

  notePlanned(id: string, ordinal: number): void {
    this.#planned.set(this.#nameOf(id), ordinal);
  }

  /** Ends a file: the runs whose rows it held. */
  takeRuns(): string[] {
    const runs = [...this.#fileRuns].sort();
    this.#fileRuns = new Set();
    return runs;
  }

  #checkRun({ run, step, isPlanned, index }: RowId, { plan, isBegun }: OtherPlan): RowPlan | undefined {
    const source = plan.steps.find(({ number }) => number === step);
    const count = (isPlanned ? source?.counts.planned : source?.counts.rejected) ?? 0;
    if (source === undefined || index >= count || (isPlanned && !isBegun)) {
      return reject(`run ${run} has no rejected row with its _rowId, expected the _rowId unchanged`);
    }
    const own = findOwnStep(plan, source, this.#step);
    return own === undefined
      ? undefined
      : skip(`Step ${own.number} of run ${run} read the same row, and reports what became of it`);
  }

  #nameOf(id: string): string {
    return this.#given?.nameOf(id) ?? id;
  }

  async #readPlans(): Promise<GivenRows> {
    const { files, jobDirectory, plan } = this.#source;
    const plans = await listPlans(files, jobDirectory);
    const ofAnyTime = countingFor(plans, { ...plan, occurrence: '' });
    this.#runs = new Map(ofAnyTime.map((other) => [other.plan.id, other]));
    this.#given = new GivenRows(files, { counting: countingFor(plans, plan), all: ofAnyTime });
    return this.#given;
  }
}

/**
 * The step of a run that is as the one which now reads rejections of another step, and that had their file itself: there each
 * row has its own end. Undefined where the rejections are those of the step itself, or it never had the file.
 */
function findOwnStep(
  plan: Plan,
  source: PlannedStep,
  { kind, number }: { kind: string; number: number },
): PlannedStep | undefined {
  const files = new Set(source.inputs.map(({ contentSha256 }) => contentSha256));
  const own = plan.steps.filter(
    (step) => step.kind === kind && step.inputs.some(({ contentSha256 }) => files.has(contentSha256)),
  );
  const isItself = source.kind === kind && (source.number === number || own.length === 1);
  return isItself ? undefined : own.find((step) => step !== source);
}

function reject(what: string): RowPlan {
  const reason = `The row cannot be matched to the one that was rejected: ${what}; clear its cell _rowId only if the row is new`;
  return { kind: 'rejected', rejection: { stage: 'read', field: '_rowId', code: 'bad-id', reason } };
}

function skip(reason: string): RowPlan {
  return { kind: 'skipped', skip: { code: 'retried', reason } };
}
