import { remember } from '../domain/is-object.js';
import { isLeftOutCode } from '../domain/row-codes.js';
import { accountOfKind, isRowStep } from '../job/job.js';
import type { CurrentRowStatus } from '../journal/row-status-view.js';
import { atAnyTime, type RowId, readRowId } from '../kinds/ids.js';
import { kindOf } from '../kinds/kinds.js';
import type { RowRefusal } from '../kinds/step-kind.js';
import { NumberSet } from '../normalize/number/number-set.js';
import { nameAmongKind, type Plan, type PlannedStep } from '../plan/format/plan-file.js';
import { isSameOccurrence } from '../plan/format/run-record.js';
import { fileIdsOf, readNamedRows } from '../plan/reimport/named-rows.js';
import { listFilesOf } from './claims.js';
import type { JobRows } from './job-rows.js';
import type { PastRun } from './read-runs.js';

/** Numbers, or sessions, each with the first row that has it. */
interface Keys {
  find(key: string): RowId | undefined;
  add(key: string, id: RowId): void;
}

/** What a run sent of the rows of some files, or may send: of all of them together, as there may be thousands. */
interface KeysOfRun {
  readonly run: string;
  readonly keys: Keys;
}

/** What is sent, or may be, of the files that one plan read. */
interface Family {
  /** A run that had rows of them and is gone: nothing says any more to whom it sent. */
  readonly gone: string | undefined;
  /** The keys of runs, by the name of the step. */
  readonly keys: ReadonlyMap<string, readonly KeysOfRun[]>;
}

/**
 * Rows of the same files get one message a number, or session, whichever plans have them. When the files were planned, rows that `where`
 * left out and rows that were rejected were compared with no others. They come back by a retry or a re-import, and are compared here: with
 * all that plans have sent, or may send, of the files. What these have from other files is another message. A draft has nothing yet: its rows
 * are compared again when it begins. `sender`: the plan that would send the rows; without an id there is none yet.
 */
export function createTwins(
  jobRows: JobRows,
  sender: { readonly id: string | undefined } & Pick<Plan, 'job' | 'occurrence' | 'retryOf'>,
) {
  const filesOfPlans = new Map<Plan, readonly string[]>();
  /** Families by their first file. */
  const families = new Map<string, Promise<Family>>();
  const loaded = new Map<string, Family>();
  const ofJob = sender.job.steps.map(({ kind }, at) => ({ kind, number: at + 1 }));
  /** The steps of its job: their names, and what their rows are compared by. */
  const steps = sender.job.steps.map((step, at) => {
    const comparesBy = isRowStep(step) ? kindOf(step).comparesBy?.(step) : undefined;
    return { name: nameAmongKind(ofJob, at + 1), comparesBy };
  });

  /** The files that were read with one, by the run that took it, first of all for the account; else by a plan that was never begun. */
  function listFilesWith(file: string): readonly string[] {
    const known = jobRows.filesOf(file);
    const own = known.filter(({ plan, step }) => isOfAccount(plan, step));
    const readers = own.length > 0 ? own : known;
    const reader = readers.find(({ plan }) => jobRows.registry.runs.has(plan.id)) ?? readers[0];
    if (reader === undefined) return [file];
    const { plan: of } = reader;
    return remember(filesOfPlans, of, () => of.steps.flatMap((step) => fileIdsOf(of, step)));
  }

  async function readFamily(files: ReadonlySet<string>): Promise<Family> {
    const keys = new Map<string, KeysOfRun[]>();
    for (const run of jobRows.runs.values()) {
      if (!counts(run, files)) continue;
      const { plan } = run;
      for (const step of plan.steps) {
        const name = nameAmongKind(plan.steps, step.number);
        const comparesBy = steps.find((each) => each.name === name)?.comparesBy;
        if (comparesBy === undefined || hasCompared(plan, step)) continue;
        const own = createKeys(comparesBy);
        for await (const { key, id } of readSent(run, step, files)) own.add(key, id);
        remember(keys, name, (): KeysOfRun[] => []).push({ run: plan.id, keys: own });
      }
    }
    return { gone: findGone(files), keys };
  }

  /** Rows of the files that a step of a plan sent, or may send. */
  async function* readSent(
    run: PastRun,
    step: PlannedStep,
    files: ReadonlySet<string>,
  ): AsyncGenerator<{ key: string; id: RowId }> {
    if (!isOfAccount(run.plan, step)) return;
    for await (const { row, id, index } of readNamedRows(jobRows.files, run, step)) {
      if (row.state !== 'planned' || id === undefined || !files.has(id.file)) continue;
      if (await mayBeSent(run, step, { id, index })) yield { key: row.facts[0] ?? '', id };
    }
  }

  /** Whether what a plan has of the files counts: another one, of the same time, that has rows for itself. */
  function counts({ plan, state }: PastRun, files: ReadonlySet<string>): boolean {
    const { id, occurrence } = sender;
    const { claims } = jobRows.registry;
    if (plan.id === id || (occurrence !== '' && !isSameOccurrence(plan.occurrence, occurrence))) return false;
    if (state === 'planned' && claims.countOf(plan.id) === 0) return false;
    return listFilesOf(plan, claims).some((file) => files.has(file));
  }

  /** Whether the rows that are retried were compared with the others of their step when it was planned, by the same settings. */
  function hasCompared({ id, job }: Plan, { number }: PlannedStep): boolean {
    const { retryOf } = sender;
    if (retryOf?.run !== id || isLeftOutCode(retryOf.only)) return false;
    const [then, now] = [job, sender.job].map(({ steps }) => JSON.stringify({ ...steps[number - 1], ramp: undefined }));
    return then === now;
  }

  /** Whether a planned row was sent, or may be, as its run stands: one that another plan has is asked of that. */
  async function mayBeSent(
    run: PastRun,
    { kind, number }: PlannedStep,
    { id, index }: { id: RowId; index: number },
  ): Promise<boolean> {
    const { plan, state } = run;
    const { registry } = jobRows;
    if (state === 'planned') return true;
    const rows = await jobRows.rowsOf(run);
    const status = rows.currentStatusOf(number, index);
    const by =
      rows.movedTo(number, index) ?? registry.claims.findNext(kind, id, plan, status === 'rejected').next?.plan;
    if (by !== undefined && !isKnown(by)) return true;
    const isOver = UNSENT.includes(status) || (registry.isAbandoned(plan.id) && status === 'open');
    return !isOver || (await jobRows.isReceivedBy(run, kind, id));
  }

  function isOfAccount({ job }: Pick<Plan, 'job'>, { kind }: Pick<PlannedStep, 'kind'>): boolean {
    return accountOfKind(job, kind) === accountOfKind(sender.job, kind);
  }

  function isKnown(run: string): boolean {
    return run === sender.id || jobRows.runs.has(run);
  }

  /** Finds a run that is gone and took the files, or had rows of them whose numbers no other plan knows: they were wrong, or left out. */
  function findGone(files: ReadonlySet<string>): string | undefined {
    const { claims } = jobRows.registry;
    const takers = [...files].flatMap((file) => jobRows.takersOf(file, sender.job));
    const claimants = [...claims.plans].filter((id) =>
      claims.claimsOf(id).some(({ retryOf, rows }) => {
        return (retryOf === null || isLeftOutCode(retryOf.only)) && rows.some(({ from }) => files.has(from));
      }),
    );
    return [...takers, ...claimants].find((id) => !isKnown(id));
  }

  return {
    /** To be called for a file before its rows are asked for. Gives the run that is gone, without which nobody knows their twins. */
    async load(file: string): Promise<string | undefined> {
      const known = loaded.get(file);
      if (known !== undefined) return known.gone;
      const files = listFilesWith(file);
      const family = await remember(families, files[0] ?? file, () => readFamily(new Set(files)));
      loaded.set(file, family);
      return family.gone;
    },
    /** Skips a row of a file that was loaded where a plan has another one with its number or session. */
    refuse(step: number, ownId: string, key: string): RowRefusal | undefined {
      const id = readRowId(ownId);
      const { name = '', comparesBy } = steps[step - 1] ?? {};
      const family = id && loaded.get(id.file);
      for (const { run, keys } of family?.keys.get(name) ?? []) {
        const found = keys.find(key);
        if (found === undefined) continue;
        const isItself = atAnyTime(found.file) === atAnyTime(id?.file ?? '') && found.row === id?.row;
        const skip = { code: 'duplicate', reason: `A row of plan ${run} has the same ${comparesBy}` } as const;
        return isItself ? undefined : { kind: 'skipped', skip };
      }
      return undefined;
    },
  };
}

const UNSENT: readonly CurrentRowStatus[] = ['rejected', 'not-sent', 'moved'];

function createKeys(what: 'number' | 'session'): Keys {
  const [numbers, sessions] = [new NumberSet(), new Map<string, number>()];
  // By the place of a key: its file and its row. Each name of a file is kept once.
  const [files, rows]: [string[], number[]] = [[], []];
  const names = new Map<string, string>();
  const placeOf = (key: string) => (what === 'number' ? numbers.find(Number(key)) : sessions.get(key));
  return {
    find: (key) => {
      const place = placeOf(key);
      return place === undefined ? undefined : { file: files[place] ?? '', row: rows[place] ?? 0 };
    },
    add: (key, { file, row }) => {
      if (placeOf(key) !== undefined) return;
      if (what === 'number') numbers.add(Number(key), rows.length);
      else sessions.set(key, rows.length);
      files.push(remember(names, file, () => file));
      rows.push(row);
    },
  };
}
