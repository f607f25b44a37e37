import { remember } from '../domain/is-object.js';
import { isLeftOutCode } from '../domain/row-codes.js';
import type { RowStatusView } from '../journal/row-status/row-status-view.js';
import { type RowId, readRowId } from '../kinds/ids.js';
import type { RowRefusal } from '../kinds/step-kind.js';
import { accountOfKind } from '../plan/format/account-of.js';
import { digestOfRows, type Plan, type PlannedStep } from '../plan/format/plan-file.js';
import { countLeftOut, readPlannedRows } from '../plan/format/planned-rows.js';
import { isSameOccurrence } from '../plan/occurrence.js';
import { fileStartsOf, isRefusedRow, RefusedRows } from '../plan/reimport/refused-rows.js';
import { type FoundRow, type RowOwners, rejectSent, rejectUnknown, skip } from '../plan/reimport/reimported-rows.js';
import type { RowOfOther } from '../plan/reimport/rows-of-others.js';
import { readRunRows } from '../report/read-run-rows.js';
import type { ClaimScope } from './claims.js';
import type { PastRun } from './read-runs.js';
import { type OwnerSources, Twins } from './twins.js';

type Step = Parameters<RowOwners['find']>[0];

interface Takers {
  readonly readers: readonly Plan[];
  readonly gone: string | undefined;
}

/**
 * Who owns a row of a run of the job: a plan that has claimed it, by the memory; else a run that took the file in which it stands,
 * and did not refuse it; else its own run, unless that has it rejected. Runs are read as far as they are asked for, each once.
 */
export class OwnerLookup implements RowOwners {
  readonly #sources: OwnerSources;
  readonly #plan: Pick<Plan, 'id' | 'job' | 'occurrence' | 'retryOf'>;
  readonly #known: ReadonlySet<string>;
  /** The plan itself aside. */
  readonly #runs: ReadonlyMap<string, PastRun>;
  readonly #refused: RefusedRows;
  readonly #twins: Twins;
  readonly #takers = new Map<string, Takers>();
  readonly #rows = new Map<string, RowStatusView>();

  /** `plan`: that would send the rows; `directory`: where it is, once it is made. */
  constructor(
    sources: OwnerSources,
    { plan, directory }: { plan: Pick<Plan, 'id' | 'job' | 'occurrence' | 'retryOf'>; directory?: string },
  ) {
    const runs = sources.history.filter((run) => run.plan.id !== plan.id && run.plan.testOf === undefined);
    this.#sources = sources;
    this.#plan = plan;
    this.#known = new Set(sources.history.map((run) => run.plan.id));
    this.#runs = new Map(runs.map((run) => [run.plan.id, run]));
    const own = directory === undefined ? [] : [{ plan: plan as Plan, directory }];
    this.#refused = new RefusedRows(sources.files, [...runs, ...own]);
    this.#twins = new Twins(sources, plan);
  }

  hasRead(kind: string, contentSha256: string): boolean {
    const steps = [...this.#runs.values()].flatMap(({ plan }) => plan.steps.filter((step) => step.kind === kind));
    return steps.some(({ inputs }) => inputs.some((input) => input.contentSha256 === contentSha256));
  }

  async find(step: Step, id: string): Promise<FoundRow> {
    const row = readRowId(id);
    if (row === undefined) return { name: id, place: undefined, refusal: undefined };
    if (isRefusedRow(row)) await this.#refused.loadSharing(row.run);
    const names = this.#refused.namesOf(row);
    const owner = this.#sources.registry.claims.ownerOf(step.kind, names, this.#scopeOf(step.kind));
    const { from, row: number } = names.at(-1) ?? { from: id, row: 0 };
    const refusal =
      owner === undefined || owner === this.#plan.id
        ? (this.#findReader(step.kind, row, id) ?? (await this.#askRun(step, row)))
        : this.#explainOwner(owner, `claimed the row from run ${row.run}`);
    if (refusal === undefined) await this.#twins.load(id);
    return { name: `${from}${number}`, place: this.#refused.placeOf(id, step), refusal };
  }

  refuseTwin(step: number, id: string, key: string): RowRefusal | undefined {
    return this.#twins.refuse(step, id, key);
  }

  /** The file of the plan in which a row stands that it also has by an id, and from which it would send it. */
  async findCopy(plan: Plan, { kind, id }: RowOfOther): Promise<string | undefined> {
    const row = readRowId(id);
    if (row === undefined || !isRefusedRow(row)) return undefined;
    await this.#refused.load(plan.id);
    const own = this.#refused.stateIn(plan, kind, id);
    return own?.state === 'planned' ? own.file : undefined;
  }

  /** Rows of its own files that a plan would send, and that another has claimed: a draft had refused them. */
  async *listClaimed(plan: Plan, directory: string): AsyncGenerator<{ where: string; owner: string }> {
    const { files, registry } = this.#sources;
    for (const step of plan.steps) {
      const { kind, inputs } = step;
      const starts = fileStartsOf(plan, step);
      if (starts.every((from) => registry.claims.listOf(kind, from).length === 0)) continue;
      for await (const { row } of readPlannedRows(files, directory, step)) {
        if (row.from !== undefined) continue;
        const names = [{ from: starts[row.file] ?? '', row: row.row }];
        const owner = registry.claims.ownerOf(kind, names, this.#scopeOf(kind)) ?? plan.id;
        if (owner !== plan.id) yield { where: `${inputs[row.file]?.file}:${row.line}`, owner };
      }
    }
  }

  #explainOwner(plan: string, what: string): RowRefusal {
    if (this.#runs.get(plan)?.state === 'planned')
      return skip('retried', `Claimed by plan ${plan}, which was never applied`);
    return this.#known.has(plan)
      ? skip('retried', `Claimed by plan ${plan}, which reports what became of it`)
      : rejectSent(
          `plan ${plan} ${what}, ${this.#prunedAt(plan) === undefined ? 'is gone' : 'was pruned'}, and may have sent it`,
        );
  }

  /** Another run that took the file of a refused row, and did not refuse it, or is gone. */
  #findReader(kind: string, { run }: RowId, id: string): RowRefusal | undefined {
    const content = this.#refused.contentOf(id);
    if (content === undefined) return undefined;
    const { readers, gone } = this.#findTakers(kind, content, run);
    const reader = readers.find((plan) => {
      const read = this.#refused.stateIn(plan, kind, id)?.state;
      return read !== undefined && read !== 'rejected';
    });
    const owner = reader?.id ?? gone;
    return owner === undefined ? undefined : this.#explainOwner(owner, 'took the file in which the row stands');
  }

  /** Other runs than one that took a file: those that are there, and one that is gone. The same for all rows of the file. */
  #findTakers(kind: string, content: string, run: string): Takers {
    return remember(this.#takers, JSON.stringify([kind, content, run]), () => {
      const scope = this.#scopeOf(kind);
      const givers = this.#listGivers(run);
      const readers = this.#refused.readersOf(content).flatMap((id): Plan[] => {
        const { plan, state } = this.#runs.get(id) ?? {};
        if (plan === undefined || state === 'planned' || id === run || givers.has(id)) return [];
        if (plan.retryOf !== undefined || !this.#isOfAccount(plan, kind)) return [];
        const isOfTime = scope.occurrence === '' || isSameOccurrence(plan.occurrence, scope.occurrence);
        return isOfTime ? [plan] : [];
      });
      const takers = this.#sources.registry.listTakers(kind, [content], scope);
      return { readers, gone: takers.find((each) => each !== run && !this.#known.has(each)) };
    });
  }

  /** The runs from which a plan that retries rows has them: they gave them up, so that what it refused is its own. */
  #listGivers(run: string): Set<string> {
    const givers = new Set<string>();
    for (let from = this.#runs.get(run)?.plan.retryOf?.run; from !== undefined; ) {
      givers.add(from);
      from = this.#runs.get(from)?.plan.retryOf?.run;
    }
    return givers;
  }

  /** Whose claims, and whose files, count for a kind of step. */
  #scopeOf(kind: string): ClaimScope {
    return { account: accountOfKind(this.#plan.job, kind), occurrence: this.#plan.occurrence };
  }

  #isOfAccount({ job }: Plan, kind: string): boolean {
    return accountOfKind(job, kind) === accountOfKind(this.#plan.job, kind);
  }

  /** How many rows of its step are as a row says to be; none of those that it left out are input. */
  #countLike({ isPlanned, isLeftOut }: RowId, source: PlannedStep): number {
    if (isLeftOut) return isLeftOutCode(this.#plan.retryOf?.only) ? countLeftOut(source) : 0;
    return isPlanned ? source.counts.planned : source.counts.rejected;
  }

  /** The day; undefined for a run that is not pruned. */
  #prunedAt(run: string): string | undefined {
    const { pruned } = this.#sources.registry.recordOf(run);
    return pruned === undefined ? undefined : new Date(pruned.at).toISOString().slice(0, 10);
  }

  async #askRun(step: Step, row: RowId): Promise<RowRefusal | undefined> {
    const prunedAt = this.#prunedAt(row.run);
    if (prunedAt !== undefined) {
      return rejectUnknown(
        `run ${row.run} was pruned on ${prunedAt}, and nothing shows any more what became of its rows`,
      );
    }
    if (this.#sources.registry.runs.get(row.run)?.begun.testOf !== undefined)
      return rejectUnknown(`run ${row.run} is a test: the row itself stands in the input of the job`);
    const run = this.#runs.get(row.run);
    if (run === undefined) return undefined;
    const { plan, state } = run;
    const source = plan.steps.find(({ number }) => number === row.step);
    if (source !== undefined && !this.#isOfAccount(plan, source.kind)) return undefined;
    const count = source === undefined ? 0 : this.#countLike(row, source);
    if (source === undefined || row.index >= count || (row.isPlanned && state === 'planned')) {
      return rejectUnknown(`run ${row.run} has no rejected row with its _rowId, expected the _rowId unchanged`);
    }
    const sent = row.isPlanned ? await this.#findSent(row, run) : undefined;
    if (sent !== undefined) return rejectSent(sent);
    const own = findOwnStep(plan, source, step);
    if (own === undefined) return undefined;
    return skip('retried', `Step ${own.number} of run ${row.run} read the same row, and reports what became of it`);
  }

  /** Why a row that its run planned was sent, or may be: only one that was refused may be sent by another plan. */
  async #findSent(row: RowId, run: PastRun): Promise<string | undefined> {
    if (await this.#sources.received.has(row))
      return `a delivery receipt shows that run ${row.run} sent the row with its _rowId`;
    const rows = this.#rows.get(row.run) ?? (await readRunRows(this.#sources.files, run)).rows;
    this.#rows.set(row.run, rows);
    if (['moved', 'rejected'].includes(rows.currentStatusOf(row.step, row.index))) return undefined;
    return `in run ${row.run} the row with its _rowId was not rejected: it was sent, or may yet be sent`;
  }
}

/**
 * The step of a run that is as the one which now reads rejections of another step, and that had their file itself: there each
 * row has its own end. Undefined where the rejections are those of the step itself, or it never had the file.
 */
function findOwnStep(plan: Plan, source: PlannedStep, { kind, number }: Step): PlannedStep | undefined {
  const files = new Set(source.inputs.map(digestOfRows));
  const own = plan.steps.filter(
    (step) => step.kind === kind && step.inputs.some((input) => files.has(digestOfRows(input))),
  );
  const isItself = source.kind === kind && (source.number === number || own.length === 1);
  return isItself ? undefined : own.find((step) => step !== source);
}
