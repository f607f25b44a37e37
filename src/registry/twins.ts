import { remember } from '../domain/is-object.js';
import { isLeftOutCode } from '../domain/row-codes.js';
import { isRowStep } from '../job/job.js';
import type { CurrentRowStatus } from '../journal/row-status/row-status-view.js';
import { formatRowId, readRowId } from '../kinds/ids.js';
import { kindOf } from '../kinds/kinds.js';
import type { RowRefusal } from '../kinds/step-kind.js';
import { NumberSet } from '../normalize/number/number-set.js';
import { accountOfKind } from '../plan/format/account-of.js';
import type { Plan, PlannedStep } from '../plan/format/plan-file.js';
import { readRowBatches } from '../plan/format/planned-files.js';
import { createOrdinals } from '../plan/format/planned-rows.js';
import type { RowLine } from '../plan/format/row-line.js';
import { isSameOccurrence } from '../plan/occurrence.js';
import { filesOf } from '../plan/reimport/refused-rows.js';
import { readRunRows } from '../report/read-run-rows.js';
import type { Files } from '../storage/files.js';
import { listClaimsOn } from './claim-rows.js';
import type { PastRun } from './read-runs.js';
import type { ReceivedRows } from './received-rows.js';
import type { RegistryState } from './registry-state.js';

/** What says which plan has a row, and whether it was sent. */
export interface OwnerSources {
  readonly files: Files;
  readonly registry: RegistryState;
  /** Of the job, at this moment. */
  readonly history: readonly PastRun[];
  readonly received: ReceivedRows;
}

/** Numbers, or sessions, each with the place of the row that has it. */
interface Keys {
  find(key: string): number | undefined;
  add(key: string, place: number): void;
}

/** What is sent, or may be, of the rows of one run. */
interface Family {
  /** A run that had some of them and is gone: nothing says any more to whom it sent. */
  readonly gone: string | undefined;
  /** By step. */
  readonly keys: ReadonlyMap<string, Keys>;
  /** Places count through the planned rows of all steps of all runs; from `first` on they are those of this one. */
  readonly spans: readonly { readonly first: number; readonly run: string; readonly step: number }[];
}

/**
 * Rows of the same files get one message a number, or session, whichever plans have them. When the files were planned, rows that `where`
 * left out and rows that were rejected were compared with no others. They come back by a retry or a re-import, and are compared here: with
 * what the run that read the files has sent, or may send, and with what later plans have of its rows. What these have from other files is
 * another message. A draft has nothing yet: its rows are compared again when it begins, and what it refused is of the run that has its files.
 */
export class Twins {
  readonly #sources: OwnerSources;
  readonly #plan: { readonly id: string | undefined } & Pick<Plan, 'job'>;
  /** Of the steps of its job. */
  readonly #names: readonly string[];
  /** What the rows of a step are compared by; steps that are not compared are absent. */
  readonly #compared = new Map<string, 'number' | 'session'>();
  readonly #history: ReadonlyMap<string, PastRun>;
  /** Of the same time, the plan itself aside. */
  readonly #runs: readonly PastRun[];
  /** By run: the ids that its rows have from other runs, by their own ids. */
  readonly #idsBefore = new Map<string, ReadonlyMap<string, string>>();
  /** By the run that read the files. */
  readonly #families = new Map<string, Family>();
  readonly #readers = new Map<string, string>();
  readonly #alone = new Map<string, boolean>();

  /** `plan`: that would send the rows; without an id there is none yet. */
  constructor(sources: OwnerSources, plan: { readonly id: string | undefined } & Pick<Plan, 'job' | 'occurrence'>) {
    const { history, registry } = sources;
    this.#sources = sources;
    this.#plan = plan;
    const steps = plan.job.steps.map(({ kind }, at) => ({ kind, number: at + 1 }));
    this.#names = steps.map(({ number }) => nameStep(steps, number));
    for (const [at, step] of plan.job.steps.entries()) {
      const what = isRowStep(step) ? kindOf(step).comparesBy?.(step) : undefined;
      if (what !== undefined) this.#compared.set(this.#names[at] ?? '', what);
    }
    this.#history = new Map(history.map((run) => [run.plan.id, run]));
    this.#runs = history.filter(({ plan: other, state }) => {
      if (other.id === plan.id || other.testOf !== undefined) return false;
      if (plan.occurrence !== '' && !isSameOccurrence(other.occurrence, plan.occurrence)) return false;
      return state !== 'planned' || registry.claims.countOf(other.id) > 0;
    });
  }

  /** To be called for a row before it is asked for. Gives the run that is gone, without which nobody knows its twins. */
  async load(id: string): Promise<string | undefined> {
    const first = await this.#loadFirst(id);
    const origin = this.#readerOf(readRunOf(first));
    // A run has compared the rows that it planned.
    if (readRowId(first)?.isPlanned === true && this.#isAlone(origin)) return undefined;
    const family = this.#families.get(origin) ?? (await this.#readFamily(origin));
    this.#families.set(origin, family);
    return family.gone;
  }

  /** Skips a row that was loaded where a plan has another one with its number or session. */
  refuse(step: number, id: string, key: string): RowRefusal | undefined {
    const family = this.#families.get(this.#readerOf(readRunOf(this.#firstOf(id))));
    const name = this.#names[step - 1] ?? '';
    const place = family?.keys.get(name)?.find(key);
    const span = place === undefined ? undefined : family?.spans.findLast(({ first }) => first <= place);
    if (place === undefined || span === undefined) return undefined;
    const { run, first } = span;
    if (formatRowId({ run, step: span.step, isPlanned: true, index: place - first }) === id) return undefined;
    const reason = `A row of plan ${run} has the same ${this.#compared.get(name)}`;
    return { kind: 'skipped', skip: { code: 'duplicate', reason } };
  }

  /** Gives the id of a row in the plan that read it from a file of its own. */
  async #loadFirst(id: string): Promise<string> {
    const before = (await this.#readIdsBefore(readRunOf(id))).get(id);
    return before === undefined ? id : this.#loadFirst(before);
  }

  /** The same of a loaded row. */
  #firstOf(id: string): string {
    const before = this.#idsBefore.get(readRunOf(id))?.get(id);
    return before === undefined ? id : this.#firstOf(before);
  }

  /** The run that has the files of a plan: itself, or where it was never begun, another that read one of them. */
  #readerOf(plan: string): string {
    return remember(this.#readers, plan, () => {
      const draft = this.#history.get(plan);
      const files = new Set(draft?.state === 'planned' ? filesOf(draft.plan) : []);
      const isReader = ({ plan: of, state }: PastRun) =>
        state !== 'planned' && of.retryOf === undefined && filesOf(of).some((file) => files.has(file));
      return this.#runs.find(isReader)?.plan.id ?? plan;
    });
  }

  #listReadersBefore(plan: Plan): string[] {
    return listRunsBefore(plan).map((run) => this.#readerOf(run));
  }

  /** Whether no other plan has rows of a run. */
  #isAlone(origin: string): boolean {
    const isBefore = ({ plan }: PastRun) => this.#listReadersBefore(plan).includes(origin);
    return remember(this.#alone, origin, () => !this.#runs.some(isBefore));
  }

  async #readIdsBefore(id: string): Promise<ReadonlyMap<string, string>> {
    const known = this.#idsBefore.get(id);
    if (known !== undefined) return known;
    const ids = new Map<string, string>();
    const run = this.#history.get(id);
    if (run !== undefined && listRunsBefore(run.plan).length > 0) {
      for (const step of run.plan.steps) {
        for await (const batch of readNamedRows(this.#sources.files, run, step)) {
          for (const { id: own, row } of batch) if (row.from !== undefined) ids.set(own, row.from);
        }
      }
    }
    this.#idsBefore.set(id, ids);
    return ids;
  }

  async #readFamily(origin: string): Promise<Family> {
    const keys = new Map<string, Keys>();
    const spans: { first: number; run: string; step: number }[] = [];
    const members = new Set([origin]);
    let next = 0;
    const addRows = async (run: PastRun, step: PlannedStep): Promise<void> => {
      const name = nameStep(run.plan.steps, step.number);
      const own = remember(keys, name, () => createKeys(this.#compared.get(name)));
      const mayBeSent = await this.#judge(run, step);
      spans.push({ first: next, run: run.plan.id, step: step.number });
      for await (const { index, row } of this.#readRowsOf(origin, run, step)) {
        members.add(run.plan.id);
        if (row.state === 'planned' && (await mayBeSent(index))) own.add(row.facts[0] ?? '', next + index);
      }
      next += step.counts.planned;
    };
    for (let waiting = this.#runs; ; ) {
      const found = waiting.filter(({ plan }) =>
        [plan.id, ...this.#listReadersBefore(plan)].some((id) => members.has(id)),
      );
      if (found.length === 0) return { gone: this.#findGone(members), keys, spans };
      for (const run of found) {
        const steps = run.plan.steps.filter(({ number, kind }) => {
          const isOfAccount = accountOfKind(run.plan.job, kind) === accountOfKind(this.#plan.job, kind);
          return isOfAccount && this.#compared.has(nameStep(run.plan.steps, number));
        });
        for (const step of steps) await addRows(run, step);
      }
      waiting = waiting.filter((run) => !found.includes(run));
    }
  }

  /** The rows of a step that one run read from its files. */
  async *#readRowsOf(origin: string, run: PastRun, step: PlannedStep): AsyncGenerator<{ index: number; row: RowLine }> {
    for await (const batch of readNamedRows(this.#sources.files, run, step)) {
      for (const { index, row } of batch) {
        const reader = row.from === undefined ? run.plan.id : readRunOf(await this.#loadFirst(row.from));
        if (this.#readerOf(reader) === origin) yield { index, row };
      }
    }
  }

  /** Whether a planned row of a step was sent, or may be, as its run stands: one that another plan has is asked of that. */
  async #judge(run: PastRun, { number: step }: PlannedStep): Promise<(index: number) => boolean | Promise<boolean>> {
    const { plan, state } = run;
    const { files, registry, received } = this.#sources;
    const claims = listClaimsOn({ plan }, registry.claims).filter((each) => each.step === step);
    const rows = state === 'planned' ? undefined : (await readRunRows(files, run)).rows;
    const isAbandoned = registry.isAbandoned(plan.id);
    return (index) => {
      const claimed = claims.find(({ claim }) => claim.has(index));
      if (claimed !== undefined) return !this.#isKnown(claimed.claim.of.plan);
      const status = rows?.currentStatusOf(step, index) ?? 'open';
      const isOver = UNSENT.includes(status) || (isAbandoned && status === 'open');
      return !isOver || received.has({ run: plan.id, step, index });
    };
  }

  #isKnown(run: string): boolean {
    return run === this.#plan.id || this.#history.has(run);
  }

  /** One that read the files, or had rows whose numbers no other plan knows: they were wrong, or left out. */
  #findGone(members: ReadonlySet<string>): string | undefined {
    const { claims, runs } = this.#sources.registry;
    const hadRows = (id: string) =>
      claims.claimsOf(id).some(({ retryOf, rows }) => {
        if (retryOf !== null && !isLeftOutCode(retryOf.only)) return false;
        return rows.some(({ from }) => members.has(this.#readerOf(readRunOf(`${from}0`))));
      });
    return (
      [...members].find((id) => runs.has(id) && !this.#isKnown(id)) ??
      [...claims.plans].find((id) => !this.#isKnown(id) && hadRows(id))
    );
  }
}

const UNSENT: readonly CurrentRowStatus[] = ['rejected', 'not-sent', 'moved'];

function readRunOf(id: string): string {
  return readRowId(id)?.run ?? '';
}

/** Runs that a plan has rows from. */
function listRunsBefore({ retryOf, steps }: Plan): string[] {
  if (retryOf !== undefined) return [retryOf.run];
  return steps.flatMap(({ inputs }) => inputs.flatMap(({ fedFrom }) => fedFrom ?? []));
}

/** By its kind and its place among those of the kind: the same in a job to which other steps were added. */
function nameStep(steps: readonly Pick<PlannedStep, 'kind' | 'number'>[], number: number): string {
  const kind = steps.find((step) => step.number === number)?.kind ?? '';
  return `${kind} ${steps.filter((step) => step.kind === kind && step.number <= number).length}`;
}

function createKeys(what: 'number' | 'session' | undefined): Keys {
  const numbers = new NumberSet();
  if (what === 'number')
    return { find: (key) => numbers.find(Number(key)), add: (key, place) => numbers.add(Number(key), place) };
  const sessions = new Map<string, number>();
  return { find: (key) => sessions.get(key), add: (key, place) => sessions.set(key, place) };
}

/** The rows of a step that can have an id, in batches. */
async function* readNamedRows(
  files: Files,
  { directory, plan }: PastRun,
  step: PlannedStep,
): AsyncGenerator<{ id: string; index: number; row: RowLine }[]> {
  const ordinalOf = createOrdinals();
  for await (const batch of readRowBatches(files, directory, step)) {
    yield batch.flatMap((row) => {
      const ordinal = ordinalOf(row);
      if (ordinal === undefined) return [];
      return [{ id: formatRowId({ run: plan.id, step: step.number, ...ordinal }), index: ordinal.index, row }];
    });
  }
}
