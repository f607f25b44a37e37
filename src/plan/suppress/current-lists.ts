import { createHash } from 'node:crypto';
import { UserError } from '../../domain/errors.js';
import { decodeOptOut, noteOptOut, OPT_OUT_HEADER } from '../../domain/opt-out-line.js';
import { personOf } from '../../domain/person.js';
import type { NotSent } from '../../domain/row.js';
import type { InputFile } from '../../input/inputs.js';
import { isRowStep, type Job, type Step, type SuppressionLists } from '../../job/job.js';
import { NumberSet } from '../../normalize/number/number-set.js';
import type { FileFacts, Files } from '../../storage/files.js';
import { coalesce } from '../../storage/group-commit.js';
import { splitLines } from '../../storage/split-lines.js';
import type { Plan } from '../format/plan-file.js';
import { digestFile, STANDARD_INPUT, type SuppressionFile } from '../inputs/select-inputs.js';
import type { PlanDeps } from '../plan-deps.js';
import { ProblemList } from '../problems.js';
import { keyOfLists, listSuppression } from './list-suppression.js';
import { readListed } from './suppression.js';

/** A list of a step, by file. */
interface WatchedList {
  readonly step: number;
  readonly lists: SuppressionLists;
  readonly file: InputFile;
  /** When it was last looked at; undefined before. */
  facts: FileFacts | undefined;
  /** Of what the plan read, or this process, up to `readBytes` where that is known. */
  sha256: string | undefined;
  /** All that it ever had while this process watched; undefined as long as it is what the plan read. */
  numbers: NumberSet | undefined;
  /** Of a list that Volley writes, how far it was read; undefined for any other, which is read whole each time. */
  readBytes: number | undefined;
  /** Who opted out by lines that were appended, and when, in ms; who is on the list as it was read whole stays out. */
  readonly appended: Map<number, number>;
}

interface ListAccess {
  readonly files: Pick<Files, 'stat' | 'list' | 'openRead'>;
  readonly clock: { monotonicMs(): number; sleep(delayMs: number): Promise<void> };
  readonly reader: Omit<PlanDeps['reader'], 'spoolStandardInput'>;
}

/** How often patterns and directories are searched for new files; a file that is known is looked at each time. */
const SEARCH_EVERY_MS = 1000;
/** A list that cannot be read may be half written: it is tried again before it ends the run. */
const TRIES = 5;
const TRY_AGAIN_MS = 400;
const PIECE_BYTES = 1 << 20;

/**
 * The suppression lists of a job while its plan is sent: those that changed since are read again, and withhold what the plan
 * could not know. Of a list that Volley writes only the lines are parsed that were appended. A number that was on a list stays out, also where somebody
 * saves an older copy over it: only a line lets in again whom a line took out meanwhile. A list that is gone, or cannot be read ends the run, since a missed number is a message to a person who opted out.
 * Lists that came by standard input stay as they were planned.
 */
export class CurrentLists {
  readonly #plan: Pick<Plan, 'id' | 'steps'>;
  readonly #steps: readonly ListedStep[];
  readonly #directory: string;
  readonly #deps: ListAccess;
  readonly #watched = new Map<string, WatchedList>();
  #searchedMs = Number.NEGATIVE_INFINITY;
  /** How often numbers came to be known, or were taken back. */
  version = 0;
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

  find(asked: { readonly step: number; readonly number: number }): NotSent | undefined {
    const shown = this.nameList(asked);
    return shown === undefined ? undefined : optedOut(shown);
  }

  /** The list that has the number, as it is shown. */
  nameList({ step, number }: { readonly step: number; readonly number: number }): string | undefined {
    const person = personOf(number);
    const found = [...this.#watched.values()].find(
      (list) => list.step === step && (list.appended.has(person) || list.numbers?.find(number) !== undefined),
    );
    return found?.file.shown;
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

  /** Files stay known, those of the plan too: one that is gone can no longer be read, and ends the run. */
  async #search(): Promise<void> {
    const problems = this.#gather();
    for (const { number: step, lists } of this.#steps) {
      const files = await problems.gather(keyOfLists(lists), () =>
        listSuppression(lists, this.#directory, this.#deps, { isWatched: true }),
      );
      for (const file of files ?? []) this.#watch({ step, lists, file });
    }
    problems.throwIfAny();
    for (const { number: step, suppression } of this.#plan.steps) {
      const watched = [...this.#watched.values()].filter((list) => list.step === step);
      const lists = this.#steps.find(({ number }) => number === step)?.lists;
      for (const { path, file: shown } of suppression) {
        const isKnown = watched.some(({ file }) => file.path === path || file.shown === shown);
        if (lists === undefined || isKnown || shown === STANDARD_INPUT) continue;
        this.#watch({ step, lists, file: { path, shown, format: 'csv', key: keyOfLists(lists) } });
      }
    }
  }

  #watch({ step, lists, file }: Pick<WatchedList, 'step' | 'lists' | 'file'>): void {
    const key = JSON.stringify([step, this.#steps.findIndex((each) => each.lists === lists), file.path]);
    if (this.#watched.has(key)) return;
    const planned = this.#plan.steps.find(({ number }) => number === step)?.suppression;
    const sha256 = planned?.find(({ path }) => path === file.path)?.sha256;
    const unread = { facts: undefined, numbers: undefined, readBytes: undefined, appended: new Map<number, number>() };
    this.#watched.set(key, { step, lists, file, sha256, ...unread });
  }

  async #lookAt(list: WatchedList): Promise<void> {
    const { files, clock } = this.#deps;
    for (let left = TRIES; ; left -= 1) {
      // Before it is read: what is appended meanwhile is seen next time.
      const facts = await files.stat(list.file.path);
      if (facts !== undefined && isSame(facts, list.facts)) return;
      if (facts !== undefined && (await this.#readAppended(list, facts))) {
        list.facts = facts;
        return;
      }
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
    const isOwn = (await this.#readBytes(file.path, 0, OPT_OUT_HEADER.length)).equals(Buffer.from(OPT_OUT_HEADER));
    if (digest.sha256 !== list.sha256) {
      const input = this.#steps.find(({ number }) => number === step)?.input;
      if (input === undefined) return;
      const columns = await readListed({ file, ...digest, lists }, input, { deps: this.#deps, problems });
      if (!problems.isEmpty) return;
      list.numbers ??= new NumberSet();
      for (const { international, national } of columns)
        for (const numbers of [international, national]) for (const number of numbers) list.numbers.add(number, 0);
      if (isOwn && list.appended.size > 0) await this.#letIn(list);
      this.version += 1;
      list.sha256 = digest.sha256;
    }
    // Lines behind the digest may be read twice, which changes nothing.
    list.readBytes = isOwn ? digest.bytes : undefined;
  }

  /** By lines of a list that was read whole: where it lost those that took them out, it is no older copy. */
  async #letIn({ file, appended }: WatchedList): Promise<void> {
    const reading = await this.#deps.files.openRead(file.path);
    try {
      for await (const { bytes } of splitLines(reading)) {
        const line = decodeOptOut(bytes.toString('utf8'));
        if (line?.what === 'in') noteOptOut(appended, line);
      }
    } finally {
      await reading.close();
    }
  }

  /** False where the list is to be read whole: it is none that Volley writes, or not as it was with lines appended. */
  async #readAppended(list: WatchedList, facts: FileFacts): Promise<boolean> {
    const { readBytes, file, appended } = list;
    if (readBytes === undefined || facts.inode !== list.facts?.inode || facts.bytes <= readBytes) return false;
    // Who edits a list in place may change any line of it.
    const hash = createHash('sha256');
    for (let at = 0; at < readBytes; at += PIECE_BYTES)
      hash.update(await this.#readBytes(file.path, at, Math.min(PIECE_BYTES, readBytes - at)));
    if (hash.copy().digest('hex') !== list.sha256) return false;
    // Behind the last line break a line may be half written: it is not durable yet.
    const read = await this.#readBytes(file.path, readBytes, facts.bytes - readBytes);
    const bytes = read.subarray(0, read.lastIndexOf('\n') + 1);
    const lines = bytes.toString('utf8').split('\n').slice(0, -1).map(decodeOptOut);
    if (lines.includes(undefined)) return false;
    for (const line of lines) if (line !== undefined) noteOptOut(appended, line);
    if (lines.length > 0) this.version += 1;
    list.readBytes = readBytes + bytes.length;
    list.sha256 = hash.update(bytes).digest('hex');
    return true;
  }

  async #readBytes(path: string, offset: number, length: number): Promise<Buffer> {
    const file = await this.#deps.files.openRead(path);
    try {
      return await file.read(offset, length);
    } finally {
      await file.close();
    }
  }
}

type ListedStep = ReturnType<typeof listSteps>[number];

function listSteps({ steps }: Pick<Job, 'steps'>) {
  return steps.flatMap((step, index) => {
    if (!isRowStep(step)) return [];
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
  const reason = `The number came onto the list ${shown} after the plan was made`;
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

/** The suppression lists of a step as they are now; those that its plan was made with may be older. */
export async function listCurrentSuppression(
  step: Step,
  directory: string,
  { deps, problems }: { deps: PlanDeps; problems: ProblemList },
): Promise<SuppressionFile[]> {
  const digested: SuppressionFile[] = [];
  for (const lists of step.suppress ?? []) {
    await problems.gather(keyOfLists(lists), async () => {
      if (lists.files.includes('-')) {
        throw new UserError('bad-input', 'the suppression list came by standard input, expected a file', {
          hint: 'Name the list as a file in the job, and give that with --job; or re-import the rows with the list.',
        });
      }
      for (const file of await listSuppression(lists, directory, deps))
        digested.push({ file, ...(await digestFile(file.path, deps)), lists });
    });
  }
  return digested;
}
