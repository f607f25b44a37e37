import { createHash } from 'node:crypto';
import { closing } from '../../domain/closing.js';
import { remember } from '../../domain/is-object.js';
import { decodeOptOut, OPT_OUT_HEADER } from '../../domain/opt-out-line.js';
import type { NotSent } from '../../domain/row.js';
import type { InputFile } from '../../input/inputs.js';
import { type Input, isRowStep, type Job, type SuppressionLists } from '../../job/job.js';
import { NumberSet } from '../../normalize/number/number-set.js';
import type { FileFacts, Files } from '../../storage/files.js';
import { coalesce } from '../../storage/group-commit.js';
import type { Plan } from '../format/plan-file.js';
import { digestFile, type PlanDeps, STANDARD_INPUT } from '../plan-deps.js';
import type { ProblemList } from '../problems.js';
import { keyOfLists, listSuppression } from './list-suppression.js';
import { noteOptOut, readListed } from './suppression.js';
import { listNumbers } from './suppression-columns.js';

/** A list of a step, by file. */
interface WatchedList extends ListedStep {
  readonly file: InputFile;
  /** Its place among all lists. */
  readonly ordinal: number;
  /** When it was last looked at; undefined before. */
  facts: FileFacts | undefined;
  /** The digest of what was read last, by the plan or by this process; `bytes`: how much that was. */
  sha256: string | undefined;
  bytes: number;
}

interface ListAccess {
  readonly files: Pick<Files, 'stat' | 'list' | 'openRead'>;
  readonly clock: { monotonicMs(): number; sleep(delayMs: number): Promise<void> };
  readonly reader: Omit<PlanDeps['reader'], 'spoolStandardInput'>;
  /** Creates the list of problems for lists that cannot be read. */
  readonly gather: () => ProblemList;
}

/** How often patterns and directories are searched for new files; a file that is known is looked at each time. */
const SEARCH_EVERY_MS = 1000;
/** A list that is gone or cannot be read may be half written: it is tried again before it ends the run. */
const TRIES = 5;
const TRY_AGAIN_MS = 400;
const PIECE_BYTES = 1 << 20;

/**
 * The suppression lists of a job while its plan is sent: those that changed since are read again, and withhold what the plan
 * could not know. Of a list that Volley writes only the lines are read that were appended. A number that came onto a list stays out as long as
 * this process sends, also where somebody saves an older copy over it. A list that is gone, or cannot be read ends the run, since a missed number is a
 * message to a person who opted out. Lists that came by standard input stay as they were planned.
 */
export class CurrentLists {
  readonly #plan: Pick<Plan, 'id' | 'steps'>;
  readonly #steps: readonly ListedStep[];
  readonly #directory: string;
  readonly #deps: ListAccess;
  readonly #watched = new Map<string, WatchedList>();
  /** By step: all that its lists had while this process watched, and the plan does not know, with the first list that had it. */
  readonly #numbers = new Map<number, NumberSet>();
  readonly #shown: string[] = [];
  #searchedMs = Number.NEGATIVE_INFINITY;
  /** How often numbers came to be known, or were taken back. */
  version = 0;
  /** Callers share one look, if it begins after they called. */
  readonly refresh = coalesce(() => this.#look());

  /** Creates the lists of a job; undefined where it has none that may have changed. */
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

  find(asked: { readonly step: number; readonly number: number }): NotSent | undefined {
    const shown = this.nameList(asked);
    const reason = `The number came onto the list ${shown} after the plan was made`;
    return shown === undefined ? undefined : { status: 'not-sent', code: 'opted-out', reason };
  }

  /** The list that has the number, as it is shown. */
  nameList(asked: { readonly step: number; readonly number: number }): string | undefined {
    const ordinal = this.#numbers.get(asked.step)?.find(asked.number);
    return ordinal === undefined ? undefined : this.#shown[ordinal];
  }

  async #look(): Promise<void> {
    const { clock, gather } = this.#deps;
    for (let left = TRIES; ; left -= 1) {
      const problems = gather();
      const nowMs = clock.monotonicMs();
      if (nowMs - this.#searchedMs >= SEARCH_EVERY_MS) {
        await this.#search(problems);
        if (problems.isEmpty) this.#searchedMs = nowMs;
      }
      if (problems.isEmpty) for (const list of this.#watched.values()) await this.#lookAt(list, problems);
      if (problems.isEmpty) return;
      if (left <= 1) problems.throwIfAny();
      await clock.sleep(TRY_AGAIN_MS);
    }
  }

  /** Files stay known, those of the plan too: one that is gone can no longer be read, and ends the run. */
  async #search(problems: ProblemList): Promise<void> {
    for (const listed of this.#steps) {
      const files = await problems.gather(keyOfLists(listed.lists), () =>
        listSuppression(listed.lists, this.#directory, this.#deps, { isWatched: true }),
      );
      for (const file of files ?? []) this.#watch(listed, file);
    }
    if (!problems.isEmpty) return;
    for (const { number, suppression } of this.#plan.steps) {
      const known = [...this.#watched.values()].filter(({ step }) => step === number).map(({ file }) => file);
      const listed = this.#steps.find(({ step }) => step === number);
      for (const { path, file: shown } of suppression) {
        const isKnown = known.some((file) => file.path === path || file.shown === shown);
        if (listed === undefined || isKnown || shown === STANDARD_INPUT) continue;
        this.#watch(listed, { path, shown, format: 'csv', key: keyOfLists(listed.lists) });
      }
    }
  }

  #watch(listed: ListedStep, file: InputFile): void {
    const key = JSON.stringify([this.#steps.indexOf(listed), file.path]);
    if (this.#watched.has(key)) return;
    const planned = this.#plan.steps.find(({ number }) => number === listed.step)?.suppression;
    const sha256 = planned?.find(({ path }) => path === file.path)?.sha256;
    const ordinal = this.#shown.push(file.shown) - 1;
    this.#watched.set(key, { ...listed, file, ordinal, sha256, facts: undefined, bytes: 0 });
  }

  async #lookAt(list: WatchedList, problems: ProblemList): Promise<void> {
    // Before it is read: what is appended meanwhile is seen next time.
    const facts = await this.#deps.files.stat(list.file.path);
    if (facts !== undefined && isSame(facts, list.facts)) return;
    if (facts === undefined || !(await this.#readAppended(list, facts)))
      await problems.gather(list.file.shown, () => this.#read(list, problems));
    if (problems.isEmpty) list.facts = facts;
  }

  async #read(list: WatchedList, problems: ProblemList): Promise<void> {
    const { file, lists, input } = list;
    const digest = await digestFile(file.path, this.#deps);
    if (digest.sha256 !== list.sha256) {
      const columns = await readListed({ file, ...digest, lists }, input, { deps: this.#deps, problems });
      if (!problems.isEmpty) return;
      this.#add(list, columns.flatMap(listNumbers));
    }
    // Lines behind the digest may be read twice, which changes nothing.
    list.sha256 = digest.sha256;
    list.bytes = digest.bytes;
  }

  #add({ step, ordinal }: WatchedList, found: readonly number[]): void {
    const numbers = remember(this.#numbers, step, () => new NumberSet());
    for (const number of found) numbers.add(number, ordinal);
    this.version += 1;
  }

  /** False where the list is to be read whole: it is none that Volley writes, or not as it was with lines appended. */
  async #readAppended(list: WatchedList, facts: FileFacts): Promise<boolean> {
    if (facts.inode !== list.facts?.inode || facts.bytes <= list.bytes) return false;
    await using file = closing(await this.#deps.files.openRead(list.file.path));
    const header = await file.read(0, OPT_OUT_HEADER.length);
    if (header.toString('utf8') !== OPT_OUT_HEADER) return false;
    // Who edits a list in place may change any line of it.
    const hash = createHash('sha256');
    for (let at = 0; at < list.bytes; at += PIECE_BYTES)
      hash.update(await file.read(at, Math.min(PIECE_BYTES, list.bytes - at)));
    if (hash.copy().digest('hex') !== list.sha256) return false;
    const read = await file.read(list.bytes, facts.bytes - list.bytes);
    // Behind the last line break a line may be half written: it is not durable yet.
    const bytes = read.subarray(0, read.lastIndexOf('\n') + 1);
    const lines = bytes.toString('utf8').split('\n').slice(0, -1).map(decodeOptOut);
    const outAt = new Map<number, number>();
    for (const line of lines) {
      if (line === undefined) return false;
      noteOptOut(outAt, line);
    }
    if (lines.length > 0) this.#add(list, [...outAt.keys()]);
    list.sha256 = hash.update(bytes).digest('hex');
    list.bytes += bytes.length;
    return true;
  }
}

interface ListedStep {
  readonly step: number;
  readonly input: Input;
  readonly lists: SuppressionLists;
}

function listSteps({ steps }: Pick<Job, 'steps'>): ListedStep[] {
  return steps.flatMap((step, index) => {
    if (!isRowStep(step)) return [];
    return (step.suppress ?? []).flatMap((lists) => {
      const files = lists.files.filter((each) => each !== '-');
      return files.length === 0 ? [] : [{ step: index + 1, input: step.input, lists: { ...lists, files } }];
    });
  });
}

function isSame(one: FileFacts, other: FileFacts | undefined): boolean {
  return (
    one.bytes === other?.bytes &&
    one.modifiedMs === other.modifiedMs &&
    one.changedMs === other.changedMs &&
    one.inode === other.inode
  );
}
