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
export async function openCurrentLists(
  plan: Pick<Plan, 'id' | 'steps'>,
  job: Pick<Job, 'steps'>,
  directory: string,
  open: () => Promise<ListAccess>,
) {
  const steps = listSteps(job);
  if (steps.length === 0) return undefined;
  const deps = await open();
  const watched = new Map<string, WatchedList>();
  /** By step: all that its lists had while this process watched, and the plan does not know, with the first list that had it. */
  const numbersOf = new Map<number, NumberSet>();
  const names: string[] = [];
  let searchedMs = Number.NEGATIVE_INFINITY;
  let version = 0;

  function find(asked: { readonly step: number; readonly number: number }): NotSent | undefined {
    const shown = nameList(asked);
    const reason = `The number came onto the list ${shown} after the plan was made`;
    return shown === undefined ? undefined : { status: 'not-sent', code: 'opted-out', reason };
  }

  /** The list that has the number, as it is shown. */
  function nameList(asked: { readonly step: number; readonly number: number }): string | undefined {
    const ordinal = numbersOf.get(asked.step)?.find(asked.number);
    return ordinal === undefined ? undefined : names[ordinal];
  }

  async function look(): Promise<void> {
    for (let left = TRIES; ; left -= 1) {
      const problems = deps.gather();
      await search(problems);
      if (problems.isEmpty) for (const list of watched.values()) await lookAt(list, problems);
      if (problems.isEmpty) return;
      if (left <= 1) problems.throwIfAny();
      await deps.clock.sleep(TRY_AGAIN_MS);
    }
  }

  /** Files stay known, those of the plan too: one that is gone can no longer be read, and ends the run. */
  async function search(problems: ProblemList): Promise<void> {
    const nowMs = deps.clock.monotonicMs();
    if (nowMs - searchedMs < SEARCH_EVERY_MS) return;
    for (const listed of steps) {
      const files = await problems.gather(keyOfLists(listed.lists), () =>
        listSuppression(listed.lists, directory, deps, { isWatched: true }),
      );
      for (const file of files ?? []) watch(listed, file);
    }
    if (!problems.isEmpty) return;
    searchedMs = nowMs;
    for (const { number, suppression } of plan.steps) {
      const known = [...watched.values()].filter(({ step }) => step === number).map(({ file }) => file);
      const listed = steps.find(({ step }) => step === number);
      for (const { path, file: shown } of suppression) {
        const isKnown = known.some((file) => file.path === path || file.shown === shown);
        if (listed === undefined || isKnown || shown === STANDARD_INPUT) continue;
        watch(listed, { path, shown, format: 'csv', key: keyOfLists(listed.lists) });
      }
    }
  }

  function watch(listed: ListedStep, file: InputFile): void {
    const key = JSON.stringify([steps.indexOf(listed), file.path]);
    if (watched.has(key)) return;
    const planned = plan.steps.find(({ number }) => number === listed.step)?.suppression;
    const sha256 = planned?.find(({ path }) => path === file.path)?.sha256;
    const ordinal = names.push(file.shown) - 1;
    watched.set(key, { ...listed, file, ordinal, sha256, facts: undefined, bytes: 0 });
  }

  async function lookAt(list: WatchedList, problems: ProblemList): Promise<void> {
    // Before it is read: what is appended meanwhile is seen next time.
    const facts = await deps.files.stat(list.file.path);
    if (facts !== undefined && isSame(facts, list.facts)) return;
    if (facts === undefined || !(await readAppended(list, facts)))
      await problems.gather(list.file.shown, () => read(list, problems));
    if (problems.isEmpty) list.facts = facts;
  }

  async function read(list: WatchedList, problems: ProblemList): Promise<void> {
    const { file, lists, input } = list;
    const digest = await digestFile(file.path, deps);
    if (digest.sha256 !== list.sha256) {
      const columns = await readListed({ file, ...digest, lists }, input, { deps, problems });
      if (!problems.isEmpty) return;
      add(list, columns.flatMap(listNumbers));
    }
    // Lines behind the digest may be read twice, which changes nothing.
    list.sha256 = digest.sha256;
    list.bytes = digest.bytes;
  }

  function add({ step, ordinal }: WatchedList, found: readonly number[]): void {
    const numbers = remember(numbersOf, step, () => new NumberSet());
    for (const number of found) numbers.add(number, ordinal);
    version += 1;
  }

  /** False where the list is to be read whole: it is none that Volley writes, or not as it was with lines appended. */
  async function readAppended(list: WatchedList, facts: FileFacts): Promise<boolean> {
    if (facts.inode !== list.facts?.inode || facts.bytes <= list.bytes) return false;
    await using file = closing(await deps.files.openRead(list.file.path));
    const header = await file.read(0, OPT_OUT_HEADER.length);
    if (header.toString('utf8') !== OPT_OUT_HEADER) return false;
    // Who edits a list in place may change any line of it.
    const hash = createHash('sha256');
    for (let at = 0; at < list.bytes; at += PIECE_BYTES)
      hash.update(await file.read(at, Math.min(PIECE_BYTES, list.bytes - at)));
    if (hash.copy().digest('hex') !== list.sha256) return false;
    const added = await file.read(list.bytes, facts.bytes - list.bytes);
    // Behind the last line break a line may be half written: it is not durable yet.
    const bytes = added.subarray(0, added.lastIndexOf('\n') + 1);
    const lines = bytes.toString('utf8').split('\n').slice(0, -1).map(decodeOptOut);
    const outAt = new Map<number, number>();
    for (const line of lines) {
      if (line === undefined) return false;
      noteOptOut(outAt, line);
    }
    if (lines.length > 0) add(list, [...outAt.keys()]);
    list.sha256 = hash.update(bytes).digest('hex');
    list.bytes += bytes.length;
    return true;
  }
  return {
    find,
    nameList,
    /** How often numbers came to be known, or were taken back. */
    get version() {
      return version;
    },
    /** Callers share one look, if it begins after they called. */
    refresh: coalesce(look),
  };
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
