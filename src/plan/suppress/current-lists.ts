import type { NotSent } from '../../domain/row.js';
import { isRowStep, type Job, type SuppressionLists } from '../../job/job.js';
import { coalesce } from '../../storage/coalesce.js';
import type { FileFacts, Files } from '../../storage/files.js';
import type { Plan } from '../format/plan-file.js';
import { digestFile } from '../inputs/select-inputs.js';
import type { PlanDeps } from '../plan-deps.js';
import { ProblemList } from '../problems.js';
import { loadSuppression, type Suppression } from './suppression.js';

type InputFiles = Awaited<ReturnType<PlanDeps['reader']['listInputs']>>;

/** A list of a step, by file. */
interface WatchedList {
  readonly step: number;
  readonly lists: SuppressionLists;
  readonly file: InputFiles[number];
  /** When it was last looked at; undefined before. */
  facts: FileFacts | undefined;
  /** Of what the plan read, or this process. */
  sha256: string | undefined;
  /** Undefined as long as it is what the plan read. */
  numbers: Suppression | undefined;
}

interface ListAccess {
  readonly files: Pick<Files, 'stat'>;
  readonly clock: { monotonicMs(): number; sleep(delayMs: number): Promise<void> };
  readonly reader: Omit<PlanDeps['reader'], 'spoolStandardInput'>;
}

/** How often patterns and directories are searched for new files; a file that is known is looked at each time. */
const SEARCH_EVERY_MS = 1000;
/** A list that cannot be read may be half written: it is tried again before it ends the run. */
const TRIES = 5;
const TRY_AGAIN_MS = 400;

/**
 * The suppression lists of a job while its plan is sent: those that changed since are read again, whole, and withhold what the
 * plan could not know. One that cannot be read ends the run, since a missed number is a message to a person who opted out.
 * Lists that came by standard input stay as they were planned.
 */
export class CurrentLists {
  readonly #plan: Pick<Plan, 'id' | 'steps'>;
  readonly #steps: readonly ListedStep[];
  readonly #directory: string;
  readonly #deps: ListAccess;
  readonly #watched = new Map<string, WatchedList>();
  #searchedMs = Number.NEGATIVE_INFINITY;
  /** Callers share one look, if it begins after they called. */
  readonly refresh = coalesce(() => this.#look());

  /** Undefined where the job has no lists that may have changed. */
  static of(
    plan: Pick<Plan, 'id' | 'steps'>,
    job: Pick<Job, 'steps'>,
    directory: string,
    deps: () => Promise<ListAccess>,
  ) {
    const steps = listSteps(job);
    return steps.length === 0 ? undefined : deps().then((each) => new CurrentLists(plan, steps, directory, each));
  }

  private constructor(
    plan: Pick<Plan, 'id' | 'steps'>,
    steps: readonly ListedStep[],
    directory: string,
    deps: ListAccess,
  ) {
    this.#plan = plan;
    this.#steps = steps;
    this.#directory = directory;
    this.#deps = deps;
  }

  find({ step, number }: { readonly step: number; readonly number: number }): NotSent | undefined {
    for (const list of this.#watched.values()) {
      if (list.step === step && list.numbers?.find(number) !== undefined) return optedOut(list.file.shown);
    }
    return undefined;
  }

  #gather(): ProblemList {
    const hint = 'Nothing is sent without it. Put it right and run the same command again.';
    return new ProblemList(`send plan ${this.#plan.id}`, hint);
  }

  async #look(): Promise<void> {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs - this.#searchedMs >= SEARCH_EVERY_MS) {
      await this.#search();
      this.#searchedMs = nowMs;
    }
    for (const list of this.#watched.values()) await this.#lookAt(list);
  }

  /** Files stay known: one that is gone can no longer be read, and ends the run. */
  async #search(): Promise<void> {
    const problems = this.#gather();
    for (const { number: step, lists } of this.#steps) {
      const { files: patterns, format } = lists;
      const files = await problems.gather('suppress', () => this.#deps.reader.listInputs(patterns, this.#directory));
      const known = this.#plan.steps.find(({ number }) => number === step)?.suppression ?? [];
      for (const found of files ?? []) {
        const key = JSON.stringify([step, this.#steps.findIndex((each) => each.lists === lists), found.path]);
        if (this.#watched.has(key)) continue;
        const file = format === undefined ? found : { ...found, format };
        const sha256 = known.find(({ path }) => path === file.path)?.sha256;
        this.#watched.set(key, { step, lists, file, facts: undefined, sha256, numbers: undefined });
      }
    }
    problems.throwIfAny();
  }

  async #lookAt(list: WatchedList): Promise<void> {
    const { files, clock } = this.#deps;
    for (let left = TRIES; ; left -= 1) {
      // Before it is read: what is appended meanwhile is seen next time.
      const facts = await files.stat(list.file.path);
      if (facts !== undefined && isSame(facts, list.facts)) return;
      const problems = this.#gather();
      await problems.gather(list.file.shown, () => this.#read(list, problems));
      if (problems.isEmpty) {
        list.facts = facts;
        return;
      }
      if (left <= 1) problems.throwIfAny();
      await clock.sleep(TRY_AGAIN_MS);
    }
  }

  async #read(list: WatchedList, problems: ProblemList): Promise<void> {
    const { file, lists, step } = list;
    const digest = await digestFile(file.path, this.#deps);
    if (digest.sha256 === list.sha256) return;
    const input = this.#steps.find(({ number }) => number === step)?.input;
    if (input === undefined) return;
    const numbers = await loadSuppression([{ file, ...digest, lists }], input, { deps: this.#deps, problems });
    if (!problems.isEmpty) return;
    list.numbers = numbers;
    list.sha256 = digest.sha256;
  }
}

type ListedStep = ReturnType<typeof listSteps>[number];

function listSteps({ steps }: Pick<Job, 'steps'>) {
  return steps.flatMap((step, index) => {
    if (!isRowStep(step) || step.kind !== 'sms') return [];
    const written = (step.suppress ?? []).map((lists) => ({
      ...lists,
      files: lists.files.filter((each) => each !== '-'),
    }));
    return written.flatMap((lists) =>
      lists.files.length === 0 ? [] : [{ number: index + 1, input: step.input, lists }],
    );
  });
}

function optedOut(shown: string): NotSent {
  const reason = `The number is on the list ${shown}, which has changed since the plan was made`;
  return { status: 'not-sent', code: 'opted-out', reason };
}

function isSame(one: FileFacts, other: FileFacts | undefined): boolean {
  return (
    one.bytes === other?.bytes &&
    one.modifiedMs === other.modifiedMs &&
    one.changedMs === other.changedMs &&
    one.inode === other.inode
  );
}
