import { dirname } from 'node:path';
import { type Problem, quoteWord, UserError } from '../domain/errors.js';
import { remember } from '../domain/is-object.js';
import { accountOfKind } from '../job/job.js';
import { digestsOf, type Plan } from '../plan/format/plan-file.js';
import { type Act, isSameOccurrence, type RunBegun, type RunRecord } from '../plan/format/run-record.js';
import { listFileIds } from '../plan/reimport/named-rows.js';
import { Claims } from './claims.js';

export type BegunRun = RunRecord & { readonly begun: RunBegun };

/** What a job remembers: a record of each of its runs, and what plans have claimed. Pure. */
export class RegistryState {
  readonly claims = new Claims();
  readonly #records = new Map<string, RunRecord>();
  readonly #runs = new Map<string, BegunRun>();
  /** By digest, of their bytes or rows, the files that runs took, in the order in which these began. A cache, cleared by each record. */
  #taken: Map<string, TakenFile[]> | undefined;

  /** Runs that were begun, in the order in which they were. */
  get runs(): ReadonlyMap<string, BegunRun> {
    return this.#runs;
  }

  /** When runs began, by their clocks; where these were set back since, none is later than a run that began behind it. */
  listBegunAt(): ReadonlyMap<string, number> {
    const times = new Map<string, number>();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const { plan, begun } of [...this.#runs.values()].reverse()) {
      nextMs = Math.min(begun.at, nextMs - 1);
      times.set(plan, nextMs);
    }
    return times;
  }

  get records(): Iterable<RunRecord> {
    return this.#records.values();
  }

  /** The record of a plan; an empty one where nothing is known. */
  recordOf(plan: string): RunRecord {
    return this.#records.get(plan) ?? { plan };
  }

  /** Whether a person let a plan go, begun or not. */
  isAbandoned(plan: string): boolean {
    return this.#records.get(plan)?.abandoned !== undefined;
  }

  put(record: RunRecord): void {
    this.#taken = undefined;
    place(this.#records, record);
    if (record.begun !== undefined) this.#runs.set(record.plan, { ...record, begun: record.begun });
  }

  /** All records, with others in the place of those that it has. */
  listWith(news: readonly RunRecord[]): RunRecord[] {
    const records = new Map(this.#records);
    for (const record of news) place(records, record);
    return [...records.values()];
  }

  /** Runs that have not come to their end, and still may, in the order in which they began. A test does not keep the job from going on. */
  listUnfinished(): BegunRun[] {
    return [...this.#runs.values()].filter(({ begun, ended, directory, abandoned }) => {
      const mayGoOn = directory !== undefined && abandoned === undefined && begun.testOf === undefined;
      return mayGoOn && ended?.state !== 'finished';
    });
  }

  /** Tests of a plan, in the order in which they began. */
  listTests(plan: string): BegunRun[] {
    return [...this.#runs.values()].filter(({ begun }) => begun.testOf?.plan === plan);
  }

  /** Ids of the runs that took a file, by its bytes or by its rows, in the order in which they began. */
  listTakers(
    kind: string,
    digests: readonly string[],
    { account, occurrence }: { account: string; occurrence: string },
  ): string[] {
    this.#taken ??= indexTaken(this.#runs.values());
    const found = digests
      .flatMap((digest) => this.#taken?.get(digest) ?? [])
      .filter(({ run: { begun }, file }) => {
        const isOfTime = occurrence === '' || isSameOccurrence(begun.occurrence, occurrence);
        return isOfTime && file.kind === kind && file.account === account;
      });
    const inOrder = found.toSorted((one, other) => one.place - other.place);
    return [...new Set(inOrder.map(({ run }) => run.plan))];
  }
}

interface TakenFile {
  readonly run: BegunRun;
  /** The place of the run in the order in which runs began. */
  readonly place: number;
  readonly file: RunBegun['files'][number];
}

function indexTaken(runs: Iterable<BegunRun>): Map<string, TakenFile[]> {
  const taken = new Map<string, TakenFile[]>();
  for (const [place, run] of [...runs].entries()) {
    if (run.begun.retryOf !== null) continue;
    for (const file of run.begun.files)
      for (const digest of new Set([file.content, file.rows ?? file.content]))
        remember(taken, digest, (): TakenFile[] => []).push({ run, place, file });
  }
  return taken;
}

export interface TakenId {
  readonly id: string;
  readonly kind: string;
  readonly account: string;
}

/** The files that a run took, by their ids. A retry takes none. */
export function listTaken({ files, occurrence, retryOf }: RunBegun): TakenId[] {
  if (retryOf !== null) return [];
  const read = files.map((file) => ({ ...file, digest: file.rows ?? file.content }));
  const ids = listFileIds(read, occurrence);
  return files.map(({ kind, account }, index) => ({ id: ids[index] ?? '', kind, account }));
}

/** Puts a record in its place: runs that have begun stand in the order in which they did. */
function place(records: Map<string, RunRecord>, record: RunRecord): void {
  if (record.begun !== undefined && records.get(record.plan)?.begun === undefined) records.delete(record.plan);
  records.set(record.plan, record);
}

/**
 * Files of a plan that another run took after it was made: they would be sent twice. None of a plan that was begun, which took them
 * itself; a retry and a test take none. Pure.
 */
export function listTakenFiles(
  registry: RegistryState,
  { id, job, occurrence, steps, retryOf, testOf }: Plan,
): Problem[] {
  if (retryOf !== undefined || testOf !== undefined || registry.runs.has(id)) return [];
  return steps.flatMap(({ kind, inputs }) => {
    const scope = { account: accountOfKind(job, kind), occurrence };
    return inputs.flatMap((input): Problem[] => {
      const run = registry.listTakers(kind, digestsOf(input), scope).at(-1);
      return run === undefined
        ? []
        : [{ where: input.file, message: `was taken by run ${run} since the plan was made` }];
    });
  });
}

export function refusePruned(directory: string, { plan, pruned }: { plan: string; pruned: Act }): UserError {
  const so = `the rows of run ${plan} were pruned ${describeAct(pruned)}`;
  return new UserError('bad-plan', `Cannot use ${directory}: ${so}`, {
    hint: `What it sent stays known: nothing is sent again. Its figures: \`volley runs ${quoteWord(dirname(directory))}\``,
  });
}

/** Refuses to send a plan that a person let go. */
export function assertNotAbandoned({ plan, abandoned }: RunRecord, directory: string): void {
  if (abandoned === undefined) return;
  const so = `it was abandoned ${describeAct(abandoned)}, and never sends again`;
  throw new UserError('bad-plan', `Cannot apply run ${plan}: ${so}`, {
    hint: `What it sent, and what sends the rest: \`volley status ${quoteWord(directory)}\``,
  });
}

/** When it was done, and by whom. */
export function describeAct({ at, by }: Act): string {
  return `on ${new Date(at).toISOString().slice(0, 10)} by ${by}`;
}
