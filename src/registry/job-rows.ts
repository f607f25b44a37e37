import { remember } from '../domain/is-object.js';
import { accountOfKind } from '../job/job.js';
import type { RowStatusView } from '../journal/row-status-view.js';
import type { RowId } from '../kinds/ids.js';
import { digestOfRows, type Plan, type PlannedInput, type PlannedStep } from '../plan/format/plan-file.js';
import { fileIdsOf, type PlaceInPlan, readRowPlaces } from '../plan/reimport/named-rows.js';
import { decideByStates, openReceipts, type Receipts } from '../report/delivery-receipts.js';
import { readRunRows } from '../report/run-rows.js';
import type { Files } from '../storage/files.js';
import type { ForPlan } from './claims.js';
import type { PastRun } from './read-runs.js';
import { listTaken, type RegistryState, type TakenId } from './registry-state.js';

export interface KnownFile {
  readonly plan: Plan;
  readonly step: PlannedStep;
  readonly input: PlannedInput;
}

type Taker = TakenId & { readonly run: string };

/** The runs and plans of a job, tests aside, and what each has of a row: it is read once, when it is first asked for. The caller closes it. */
export class JobRows {
  readonly files: Files;
  readonly registry: RegistryState;
  readonly runs: ReadonlyMap<string, PastRun>;
  /** By the id of a file: the plans that read it. */
  readonly #known = new Map<string, KnownFile[]>();
  /** By the digest of the rows of a file: its ids. */
  readonly #idsOfRows = new Map<string, Set<string>>();
  /** By the kind of a step and the content of a file: the digest of its rows. */
  readonly #digests = new Map<string, string>();
  /** Runs that took a file, whether they are there or gone, in the order in which they began. */
  readonly #takers = new Map<string, Taker[]>();
  readonly #places = new Map<string, ReturnType<typeof readRowPlaces>>();
  readonly #rows = new Map<string, Promise<RowStatusView>>();
  readonly #receipts = new Map<string, Promise<Receipts | undefined>>();

  /** `history`: of the job, at this moment. */
  constructor(files: Files, registry: RegistryState, history: readonly PastRun[]) {
    this.files = files;
    this.registry = registry;
    const runs = history.filter(({ plan }) => plan.testOf === undefined);
    this.runs = new Map(runs.map((run) => [run.plan.id, run]));
    for (const { plan } of runs) {
      if (plan.retryOf !== undefined) continue;
      for (const step of plan.steps) {
        const ids = fileIdsOf(plan, step);
        for (const [index, input] of step.inputs.entries()) {
          const id = ids[index] ?? '';
          const digest = digestOfRows(input);
          remember(this.#known, id, (): KnownFile[] => []).push({ plan, step, input });
          remember(this.#idsOfRows, digest, () => new Set<string>()).add(id);
          remember(this.#digests, `${step.kind} ${input.contentSha256}`, () => digest);
        }
      }
    }
    for (const { plan: run, begun } of registry.runs.values()) {
      for (const file of listTaken(begun)) {
        remember(this.#takers, file.id, (): Taker[] => []).push({ ...file, run });
      }
    }
  }

  /** The plans that read a file, as the step that did has it; none where it is a file of another job. */
  filesOf(file: string): readonly KnownFile[] {
    return this.#known.get(file) ?? [];
  }

  /** Ids that a file has for steps of other kinds, by the digest of its rows. */
  idsForOthers(kind: string, digest: string): string[] {
    return [...(this.#idsOfRows.get(digest) ?? [])].filter((id) => this.filesOf(id)[0]?.step.kind !== kind);
  }

  digestOf(file: string): string | undefined {
    const [known] = this.filesOf(file);
    return known && digestOfRows(known.input);
  }

  /** Ids of the runs of the account and the time of a plan that took the rows of a file for steps of another kind, there or gone. */
  takersAs(kind: string, file: string, { job, occurrence }: ForPlan): string[] {
    const [known] = this.filesOf(file);
    if (known === undefined || known.step.kind === kind) return [];
    return this.registry.listTakers(kind, [digestOfRows(known.input)], {
      account: accountOfKind(job, kind),
      occurrence,
    });
  }

  /** By the content of a file for a step of a kind: the digest of its rows, if a plan read it. */
  findDigest(kind: string, contentSha256: string): string | undefined {
    return this.#digests.get(`${kind} ${contentSha256}`);
  }

  /** Ids of the runs of the account of a job that took a file, there or gone. */
  takersOf(file: string, job: Plan['job']): string[] {
    const takers = this.#takers.get(file) ?? [];
    return takers.flatMap(({ run, kind, account }) => (account === accountOfKind(job, kind) ? run : []));
  }

  /** Where a row stands in a run that is there, for steps of a kind. */
  async placesIn(run: PastRun, kind: string, id: RowId): Promise<PlaceInPlan[]> {
    const find = await remember(this.#places, run.plan.id, () => readRowPlaces(this.files, run));
    return find(kind, id);
  }

  /** What became of the planned rows of a run that is there. */
  rowsOf(run: PastRun): Promise<RowStatusView> {
    return remember(this.#rows, run.plan.id, async () => (await readRunRows(this.files, run)).rows);
  }

  /** Whether a run did not send a row: its plan refused it, or the service did, or a plan has claimed it since that is known. */
  async isRefusedIn(run: PastRun, { step, state }: PlaceInPlan): Promise<boolean> {
    if (typeof state !== 'number') return state === 'refused';
    if (run.state === 'planned') return false;
    const rows = await this.rowsOf(run);
    const by = rows.movedTo(step.number, state);
    if (by !== undefined) return this.runs.has(by) || this.registry.claims.countOf(by) > 0;
    return rows.currentStatusOf(step.number, state) === 'rejected';
  }

  /**
   * The run of which a delivery receipt shows that it sent a row, or may yet have, whatever the run holds of it: one that took the file, or
   * claimed the row. One that is queued may, unless the service said that it took the message back. One that is refused, and nothing
   * else, was not.
   */
  async findReceived(kind: string, id: RowId, plan: ForPlan): Promise<string | undefined> {
    for (const run of [...this.takersOf(id.file, plan.job), ...this.registry.claims.listOwners(kind, id, plan)]) {
      const found = this.runs.get(run);
      if (found !== undefined && (await this.isReceivedBy(found, kind, id))) return run;
    }
    return undefined;
  }

  /** Whether a delivery receipt of a run shows that it sent a row, or may yet have. */
  async isReceivedBy(run: PastRun, kind: string, id: RowId): Promise<boolean> {
    const receipts = await remember(this.#receipts, run.plan.id, () =>
      openReceipts(this.files, run.directory, run.plan),
    );
    if (receipts === undefined) return false;
    for (const { step, state } of await this.placesIn(run, kind, id)) {
      const states = typeof state === 'number' ? receipts.statesOf(step.number, state) : [];
      const decision = states.length === 0 ? 'rejected' : decideByStates(states);
      if (decision === 'sent' || decision === 'contradiction') return true;
      if (decision !== undefined) continue;
      if ((await this.rowsOf(run)).codeOf(step.number, Number(state)) !== 'cancelled') return true;
    }
    return false;
  }

  async close(): Promise<void> {
    for (const receipts of this.#receipts.values()) await (await receipts.catch(() => undefined))?.close();
    this.#receipts.clear();
  }
}
