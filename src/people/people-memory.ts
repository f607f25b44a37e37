import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { UserError } from '../domain/errors.js';
import { isRowStep, type Job } from '../job/job.js';
import type { CurrentRowStatus, RowStatusView } from '../journal/row-status/row-status-view.js';
import { readRowStatus, readRunState } from '../journal/state-reader.js';
import { kindOf } from '../kinds/kinds.js';
import type { SeenText } from '../kinds/sms/sms-texts.js';
import type { FindHad } from '../kinds/step-kind.js';
import { accountOfKind } from '../plan/format/account-of.js';
import { JOURNAL_FILE, type Plan, type PlannedStep, readPlan } from '../plan/format/plan-file.js';
import { readRequests } from '../plan/format/planned-files.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import { type OpenPeople, sameTextRule } from '../plan/had-lookup.js';
import { type Files, syncFile } from '../storage/files.js';
import { createHadLookup, type KnownPeople } from './had-already.js';
import {
  type PeopleHead,
  type PersonRecord,
  type PersonState,
  readPeople,
  readPeopleHead,
  writePeople,
} from './people-file.js';
import { PeopleTable } from './people-table.js';

/**
 * Who got what, from whatever job or run, in `<memory>/_people/`: the key, and a file for each run (people-file.ts). It is derived from plans
 * and journals: the file of a run is written before its first intent, when all of its rows count, and again with its outputs. A process
 * may die at any moment: what stands there counts too many at most.
 */
export const PEOPLE_DIRECTORY = '_people';
const KEY_FILE = 'key';
const ENDING = '.people';
const KEY_BYTES = 32;

/** Where the jobs of an output directory, or of a `memory`, keep whom they wrote to. */
export function peopleDirectoryOf({ memory }: Pick<Job, 'memory'>, jobDirectory: string): string {
  return join(memory ?? dirname(jobDirectory), PEOPLE_DIRECTORY);
}

/**
 * A run is about to send, or to go on: all of its messages count from now on, but for those of people who had theirs since its plan was
 * made. Gives why it sends nothing to these: it is to be asked before each request. Of two runs that begin in one moment each may see the
 * other: then neither sends to those that both have.
 */
export async function beginPeople(files: Files, run: RunOfPeople, nowMs: number): Promise<FindHad | undefined> {
  const { directory, plan } = run;
  if (plan.testOf !== undefined || !plan.steps.some(({ number }) => listTextsOf(plan.job, number) !== undefined))
    return;
  const jobDirectory = dirname(directory);
  const people = peopleDirectoryOf(plan.job, jobDirectory);
  const before = await files.list(people);
  const look = async () => (await openPeople(files, plan, { jobDirectory, nowMs: () => nowMs, begun: run }))?.().find;
  const findHad = await look();
  if (!(await isNoted(files, run))) await notePeople(files, run, { nowMs, findHad });
  const isSame = (await files.list(people)).every((name) => before.includes(name) || name === nameOf(plan.id));
  return isSame ? findHad : look();
}

async function isNoted(files: Files, { directory, plan }: RunOfPeople): Promise<boolean> {
  const path = join(peopleDirectoryOf(plan.job, dirname(directory)), nameOf(plan.id));
  return (await files.stat(path)) !== undefined;
}

/**
 * Writes what became of each message of a run, as its journal has it by now. Tests, plans that were never begun, and steps that send no text
 * leave nothing.
 */
export async function notePeople(
  files: Files,
  { directory, plan }: RunOfPeople,
  { nowMs, rows, findHad }: { nowMs: number; rows?: RowStatusView; findHad?: FindHad | undefined },
): Promise<void> {
  const steps = plan.steps.filter((step) => listTextsOf(plan.job, step.number) !== undefined);
  if (plan.testOf !== undefined || steps.length === 0) return;
  const ends = rows ?? (await readRows(files, { directory, plan }));
  const { firstOpen, lastClose, lastSentAt } = ends.state;
  if (firstOpen === undefined) return;
  const path = peopleDirectoryOf(plan.job, dirname(directory));
  await files.makeDirectory(path);
  const key = await ensureKey(files, path);
  const isOver = lastClose?.reason === 'finished' || lastClose?.reason === 'abandoned';
  const head = {
    plan: plan.id,
    job: plan.job.name,
    account: accountOfKind(plan.job, steps[0]?.kind ?? ''),
    group: plan.job.frequency?.group ?? '',
    sentAt: lastSentAt ?? nowMs,
    isOver,
    records: steps.reduce((sum, { counts }) => sum + counts.planned, 0),
  };
  const stateOf: StateOf = (step, row, { number, text }) => {
    const state = STATES[ends.currentStatusOf(step, row)];
    if (state !== 'to-send') return state;
    // One that was let go sends no more; what is withheld will not be sent.
    return isOver || findHad?.(number, () => text) !== undefined ? 'not-sent' : state;
  };
  const records = listRecords(files, { directory, plan }, { steps, stateOf });
  await writePeople(files, join(path, nameOf(plan.id)), { head, key, records });
}

async function readRows(files: Files, { directory, plan }: RunOfPeople): Promise<RowStatusView> {
  const steps = plan.steps.map(({ number, counts }) => ({ number, ...counts }));
  return (await readRowStatus(files, join(directory, JOURNAL_FILE), { steps, isForReport: false })).rows;
}

type RunOfPeople = { readonly directory: string; readonly plan: Plan };
type StateOf = (step: number, row: number, message: SeenText) => PersonState;

function nameOf(plan: string): string {
  return `${plan}${ENDING}`;
}

/** How a step of a job says its texts; undefined where it sends none. */
export function listTextsOf(job: Job, number: number) {
  const step = job.steps[number - 1];
  return step !== undefined && isRowStep(step) ? kindOf(step).listTexts : undefined;
}

async function* listRecords(
  files: Files,
  { directory, plan }: RunOfPeople,
  { steps, stateOf }: { steps: readonly PlannedStep[]; stateOf: StateOf },
): AsyncGenerator<PersonRecord[]> {
  for (const step of steps) {
    const listTexts = listTextsOf(plan.job, step.number);
    if (listTexts === undefined) continue;
    for await (const { body, first } of readRequests(files, directory, step)) {
      yield listTexts(body).map((each, index) => ({ ...each, state: stateOf(step.number, first + index, each) }));
    }
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

export function createOpenPeople(files: Files, nowMs: () => number): OpenPeople {
  return (plan, jobDirectory) => openPeople(files, plan, { jobDirectory, nowMs, begun: undefined });
}

/**
 * Reads who had what, as far as a plan asks for it, from the runs of its account. The run whose rows it retries gives them up: only
 * what it sent counts. `begun`: the plan is made, and is about to be sent.
 */
async function openPeople(
  files: Files,
  plan: Parameters<OpenPeople>[0],
  { jobDirectory, nowMs, begun }: { jobDirectory: string; nowMs: () => number; begun: RunOfPeople | undefined },
): ReturnType<OpenPeople> {
  const { id, job, retryOf } = plan;
  const rules = { ...job, sameText: sameTextRule(plan) };
  const directory = peopleDirectoryOf(job, jobDirectory);
  const steps = job.steps.filter((_, index) => listTextsOf(job, index + 1) !== undefined);
  if (steps.length > 0) await noteMissing(files, { jobDirectory, nowMs: nowMs() });
  const { key, heads: all } = await readPeopleHeads(files, directory);
  const spanMs = Math.max(job.sameTextWithin, job.frequency?.per ?? 0);
  const accounts = new Set(job.steps.map(({ kind }) => accountOfKind(job, kind)));
  const isRecent = ({ isOver, sentAt }: PeopleHead) => !isOver || nowMs() - sentAt <= spanMs;
  const heads = all
    .map(({ head }) => head)
    .filter((head) => isRecent(head) && head.plan !== id && accounts.has(head.account));
  // Else no number is in it twice.
  const mayRepeat = steps.length > 1 || steps.some((step) => step.kind === 'sms' && step.duplicates === 'keep');
  const countsOwn = job.frequency !== undefined && mayRepeat;
  if (heads.length === 0 && !countsOwn) return undefined;
  const table = await loadTable(files, directory, { heads, key, retried: retryOf?.run });
  if (countsOwn && begun !== undefined) await addOwn(table, files, begun);
  const counts = !countsOwn ? 'none' : begun === undefined ? 'those before' : 'all others';
  const known: KnownPeople = { table, runs: heads, counts, retried: retryOf?.run };
  return () => createHadLookup(known, rules, nowMs());
}

async function addOwn(table: PeopleTable, files: Files, run: RunOfPeople): Promise<void> {
  for await (const batch of listRecords(files, run, { steps: run.plan.steps, stateOf: () => 'to-send' }))
    for (const { number } of batch) table.addOwn(number);
}

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
    if (head === undefined) throw refuseDamaged(path, name.slice(0, -ENDING.length));
    heads.push({ path, head });
  }
  return { key, heads };
}

/** What is missing of runs that have sent something is made again, as long as their plans are there. */
async function noteMissing(
  files: Files,
  { jobDirectory, nowMs }: { jobDirectory: string; nowMs: number },
): Promise<void> {
  for await (const { path: directory, hasPlan, hasJournal } of (await RunDirectories.read(files, jobDirectory)).list(
    files,
  )) {
    if (!hasPlan || !hasJournal) continue;
    const run = { directory, plan: await readPlan(files, directory) };
    if (await isNoted(files, run)) continue;
    const { state } = await readRunState(files, join(directory, JOURNAL_FILE));
    if (state.lastSentAt !== undefined) await notePeople(files, run, { nowMs });
  }
}

async function loadTable(
  files: Files,
  directory: string,
  { heads, key, retried }: { heads: readonly PeopleHead[]; key: Buffer; retried: string | undefined },
): Promise<PeopleTable> {
  const table = new PeopleTable(heads.reduce((sum, { records }) => sum + records, 0));
  for (const [run, { plan }] of heads.entries()) {
    const path = join(directory, nameOf(plan));
    const add = (number: number, text: number, state: PersonState) => {
      const isSent = state === 'accepted' || state === 'in-doubt';
      if (isSent || (state === 'to-send' && plan !== retried)) table.add(number, text, run);
    };
    if (!(await readPeople(files, path, { key, add }))) throw refuseDamaged(path, plan);
  }
  return table;
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

function refuseDamaged(path: string, plan: string): UserError {
  return new UserError('registry-mismatch', `Cannot read whom run ${plan} wrote to: ${path} is damaged`, {
    hint: 'Put it back from a backup. Or remove it: where its run is still there, the next plan of its job writes it anew.',
  });
}
