import { hash, randomBytes } from 'node:crypto';
import { dirname, join, relative } from 'node:path';
import { countOf, listMost, sumOf } from '../domain/count-of.js';
import { InternalError, UserError } from '../domain/errors.js';
import { accountOfKind, isRowStep, type Job } from '../job/job.js';
import { readRunState } from '../journal/reader.js';
import type { RunState } from '../journal/replay.js';
import type { CurrentRowStatus, RowStatusView } from '../journal/row-status-view.js';
import { kindOf } from '../kinds/kinds.js';
import type { FindHad } from '../kinds/row-judge.js';
import type { SeenText } from '../kinds/sms/sms-texts.js';
import { JOURNAL_FILE, type PlanAt, type PlannedStep, totalOf } from '../plan/format/plan-file.js';
import { readRequests } from '../plan/format/planned-files.js';
import { readRunRows } from '../report/run-rows.js';
import { type Files, removeLeftovers, syncFile } from '../storage/files.js';
import {
  encodePeople,
  type Fill,
  fillAgain,
  type PeopleHead,
  type PersonState,
  readPeopleHead,
  type StateOf,
  writePeople,
} from './people-file.js';

/**
 * Who got what, from whatever job or run, in `<memory>/_people/`: the key, and a file for each run (people-file.ts). It is derived from plans
 * and journals: the file of a run is written each time before it sends, when all that it has yet to send counts, and again with its outputs. A process
 * may die at any moment: what stands there counts too many at most.
 */
const PEOPLE_DIRECTORY = '_people';
const KEY_FILE = 'key';
const ENDING = '.people';
const KEY_BYTES = 32;
const MARK_DIGITS = 12;
const DAY_MS = 86_400_000;
/** The ending of a file, in a memory that jobs name, with the path of an output directory whose jobs do. */
const OUTPUT_ENDING = '.output';

/** Where the jobs of an output directory, or of a `memory`, keep whom they wrote to. */
export function peopleDirectoryOf({ memory }: Pick<Job, 'memory'>, jobDirectory: string): string {
  return join(memory ?? dirname(jobDirectory), PEOPLE_DIRECTORY);
}

/**
 * Writes what became of each message of a run, as its journal has it by now. Tests, plans that were never begun, and steps that send no text
 * leave nothing.
 */
export async function notePeople(
  files: Files,
  { directory, plan }: PlanAt,
  known: { nowMs: number; rows?: RowStatusView; findHad?: FindHad | undefined; people?: string },
): Promise<boolean> {
  const { nowMs, rows, findHad, people } = known;
  const steps = plan.steps.filter((step) => listTextsOf(plan.job, step.number) !== undefined);
  if (plan.testOf !== undefined || steps.length === 0) return false;
  const ends = rows ?? (await readRunRows(files, { directory, plan })).rows;
  const { lastClose, lastSentAt } = ends.state;
  const mark = markOf(plan.id, ends.state);
  if (mark === undefined) return false;
  const path = people ?? peopleDirectoryOf(plan.job, dirname(directory));
  await files.makeDirectory(path);
  await removeLeftovers(files, path, { beforeMs: nowMs - DAY_MS });
  const key = await ensureKey(files, path);
  if (plan.job.memory !== undefined) await noteOutput(files, path, dirname(dirname(directory)));
  const isOver = isEnd(lastClose);
  const records = totalOf({ steps }, 'planned');
  const head = {
    ...mark,
    directory,
    job: plan.job.name,
    account: accountOfKind(plan.job, steps[0]?.kind ?? ''),
    group: plan.job.frequency?.group ?? '',
    sentAt: lastSentAt ?? nowMs,
    isOver,
    records,
  };
  const stateOf: StateOf = (at, number, text) => {
    const state = STATES[ends.currentStatusOf(...placeOf(at, steps))];
    if (state !== 'to-send') return state;
    // One that was let go sends no more; what is withheld will not be sent.
    return isOver || findHad?.(number, () => text) !== undefined ? 'not-sent' : state;
  };
  const file = join(path, nameOfPeople(mark));
  const before = (await files.stat(file)) && (await readPeopleHead(files, file, key));
  const again = fillAgain(files, file, { key, stateOf });
  if (before?.records === records && (await writePeople(files, file, { head, key, fill: again }))) return true;
  const fill: Fill = async (write) => {
    let from = 0;
    for await (const messages of listTextsOfRun(files, { directory, plan })) {
      await write(encodePeople(messages, from, stateOf));
      from += messages.length;
    }
    return true;
  };
  return writePeople(files, file, { head, key, fill });
}

/** Whether a run that was closed so never sends again. */
export function isEnd(close: RunState['lastClose']): boolean {
  return close?.reason === 'finished' || close?.reason === 'abandoned';
}

/** The step, and the row of it, of the message at a place of the file. */
function placeOf(at: number, steps: readonly PlannedStep[]): [step: number, row: number] {
  let row = at;
  for (const { number, counts } of steps) {
    if (row < counts.planned) return [number, row];
    row -= counts.planned;
  }
  throw new InternalError('unexpected', `Cannot tell which row is at place ${at}`);
}

/** A run that has begun, wherever it is. */
export type RunMark = Pick<PeopleHead, 'plan' | 'begun'>;

/**
 * Which run of a plan it is, by the first line of its journal: the same job has the same plan id in another output directory, and where its own
 * was removed, but no process begins two of them in one moment. The mark moves with the run. Undefined where it was never begun.
 */
export function markOf(plan: string, { firstOpen }: Pick<RunState, 'firstOpen'>): RunMark | undefined {
  if (firstOpen === undefined) return undefined;
  const { at, host, pid } = firstOpen;
  return { plan, begun: hash('sha256', `${at} ${pid} ${host}`).slice(0, MARK_DIGITS) };
}

export async function readMark(files: Files, directory: string, plan: string): Promise<RunMark | undefined> {
  return markOf(plan, (await readRunState(files, join(directory, JOURNAL_FILE))).state);
}

export function isSameRun(one: RunMark | undefined, other: RunMark | undefined): boolean {
  return one !== undefined && one.plan === other?.plan && one.begun === other.begun;
}

export function nameOfPeople({ plan, begun }: RunMark): string {
  return `${plan}-${begun}${ENDING}`;
}

/** How a step of a job says its texts; undefined where it sends none. */
export function listTextsOf(job: Job, number: number) {
  const step = job.steps[number - 1];
  return step !== undefined && isRowStep(step) ? kindOf(step).listTexts : undefined;
}

/** What the messages of a run say, in the order of its plan. */
export async function* listTextsOfRun(files: Files, { directory, plan }: PlanAt): AsyncGenerator<SeenText[]> {
  for (const step of plan.steps) {
    const listTexts = listTextsOf(plan.job, step.number);
    if (listTexts === undefined) continue;
    for await (const { body } of readRequests(files, directory, step)) yield listTexts(body);
  }
}

/** A row that another plan has claimed counts there. */
const STATES: Readonly<Record<CurrentRowStatus, PersonState>> = {
  open: 'to-send',
  'under-way': 'in-doubt',
  accepted: 'accepted',
  'in-doubt': 'in-doubt',
  rejected: 'rejected',
  'not-sent': 'not-sent',
  moved: 'not-sent',
};

/** The files of a memory, by run; `key`: of all of them. */
export async function readPeopleHeads(
  files: Files,
  directory: string,
): Promise<{ key: Buffer; heads: readonly { path: string; head: PeopleHead }[] }> {
  const names = (await files.list(directory)).filter((name) => name.endsWith(ENDING));
  const key = names.length === 0 ? Buffer.alloc(KEY_BYTES) : await readKey(files, directory);
  const heads: { path: string; head: PeopleHead }[] = [];
  for (const name of names) {
    const path = join(directory, name);
    const head = await readPeopleHead(files, path, key);
    if (head === undefined) throw refusePeopleFile(path, name.split('-')[0] ?? '');
    heads.push({ path, head });
  }
  return { key, heads };
}

/** Reads a text that changes with each file of a memory but that of one run: a run that resumes writes its own anew. */
export async function readFacts(files: Files, directory: string, own: RunMark | undefined): Promise<string> {
  const ownName = own && nameOfPeople(own);
  const names = (await files.list(directory)).filter((name) => name.endsWith(ENDING) && name !== ownName);
  const facts = names.map(async (name) => {
    const { bytes, inode, changedMs } = (await files.stat(join(directory, name))) ?? {};
    return [name, bytes, inode, changedMs].join(' ');
  });
  return (await Promise.all(facts)).join('\n');
}

/** Notes in a memory that jobs name where it finds their runs again. Durable once it returns. */
async function noteOutput(files: Files, people: string, output: string): Promise<void> {
  const name = hash('sha256', output).slice(0, 32);
  const path = join(people, `${name}${OUTPUT_ENDING}`);
  if ((await files.stat(path)) === undefined) await files.writeWhole(path, `${output}\n`);
}

/** The output directories of jobs that name a memory. */
export async function readOutputs(files: Files, people: string): Promise<string[]> {
  const names = (await files.list(people)).filter((name) => name.endsWith(OUTPUT_ENDING));
  const texts = await Promise.all(names.map((name) => files.readText(join(people, name))));
  return texts.flatMap((text = '') => (text.endsWith('\n') ? [text.trim()] : []));
}

/** The key, made where there is none: of two processes that make it one does, and both read that. Durable once it returns. */
async function ensureKey(files: Files, directory: string): Promise<Buffer> {
  const path = join(directory, KEY_FILE);
  const create = () => files.createExclusive(path, `${randomBytes(KEY_BYTES).toString('hex')}\n`);
  if ((await files.stat(path)) === undefined) await create();
  const isUsed = (await files.list(directory)).some((name) => name.endsWith(ENDING));
  if (!isUsed && !isKey(await loadKey(files, path))) {
    // Its process died before it had written it.
    await files.remove(path);
    await create();
  }
  // Or before it was durable: what is written under it must not outlive it.
  await syncFile(files, path);
  return readKey(files, directory);
}

async function readKey(files: Files, directory: string): Promise<Buffer> {
  const path = join(directory, KEY_FILE);
  const key = await loadKey(files, path);
  if (isKey(key)) return key;
  throw new UserError('registry-mismatch', `Cannot read whom earlier runs wrote to: ${path} is missing or damaged`, {
    hint: 'Put it back from a backup. Without it the files beside it can be read no more: only if you know that no one gets a text twice, move the directory away.',
  });
}

async function loadKey(files: Files, path: string): Promise<Buffer> {
  return Buffer.from(((await files.readText(path)) ?? '').trim(), 'hex');
}

function isKey({ length }: Buffer): boolean {
  return length === KEY_BYTES;
}

export function refusePeopleFile(path: string, plan: string): UserError {
  return new UserError('registry-mismatch', `Cannot read whom run ${plan} wrote to: ${path} is damaged`, {
    hint: 'Put it back from a backup. Or remove it: where its run is still there, the next plan writes it anew.',
  });
}

interface Place {
  /** Its memory knows of nobody yet but from its own runs. */
  readonly job: Pick<Job, 'directory' | 'memory'>;
  readonly jobDirectory: string;
}

/** A directory with more in it is no place for jobs. */
const MOST_NAMES = 500;
/** Who keeps many jobs side by side has long known it. */
const MOST_SAID = 3;

/**
 * Says of each memory nearby which messages it has that count for nothing, as the job now has another one. `counts`: of those that are in it, which would.
 * What cannot be read is passed over: nothing hangs on it.
 */
export async function describeMemoriesNearby(
  files: Files,
  { job, jobDirectory }: Place,
  counts: (head: PeopleHead) => boolean,
): Promise<string[]> {
  const nearby: { messages: number; said: string }[] = [];
  for (const directory of await listNearby(files, { job, jobDirectory })) {
    const found = await readPeopleHeads(files, directory).catch(() => undefined);
    const heads = (found?.heads ?? []).map(({ head }) => head).filter(counts);
    if (heads.length === 0) continue;
    const messages = sumOf(heads.map(({ records }) => records));
    const jobs = [...new Set(heads.map((head) => head.job))].sort();
    const from = `${jobs.length === 1 ? 'job' : 'jobs'} ${listMost(jobs, 3)}`;
    const memory = relative(job.directory, dirname(directory)) || '.';
    const said = `${countOf(messages, 'message')} that ${from} sent of late ${messages === 1 ? 'does' : 'do'} not count here, as ${directory} is not the memory of this job: who had the text gets it again. To count them: \`memory: ${memory}\` in the job`;
    nearby.push({ messages, said });
  }
  nearby.sort((one, other) => other.messages - one.messages);
  const said = nearby.slice(0, MOST_SAID).map((each) => each.said);
  const more = nearby.length - said.length;
  if (more > 0) said.push(`messages in ${countOf(more, 'other memory', 'other memories')} nearby do not count either`);
  return said;
}

/** Where `output` or `memory` may have been, or the job file, before a person changed it. */
async function listNearby(files: Files, { job, jobDirectory }: Place): Promise<string[]> {
  const output = dirname(jobDirectory);
  const people = peopleDirectoryOf(job, jobDirectory);
  const inside = relative(job.directory, output);
  const found = new Set([output]);
  for (const root of new Set([job.directory, dirname(job.directory), dirname(output)])) {
    const names = await files.list(root).catch(() => []);
    const shown = names.length > MOST_NAMES ? [] : names.filter((name) => !name.startsWith('.'));
    // The second and the third where the job file was moved, and its output was not.
    for (const name of shown) found.add(join(root, name)).add(join(root, name, inside));
    found.add(join(root, inside));
  }
  return [...found].map((directory) => join(directory, PEOPLE_DIRECTORY)).filter((path) => path !== people);
}
