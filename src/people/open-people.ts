import { dirname, join } from 'node:path';
import { countOf } from '../domain/count-of.js';
import type { FindHad } from '../kinds/step-kind.js';
import { accountOfKind } from '../plan/format/account-of.js';
import { RunDirectories } from '../plan/format/run-directories.js';
import { type OpenPeople, sameTextRule } from '../plan/had-lookup.js';
import type { Files } from '../storage/files.js';
import { createHadLookup, type KnownPeople } from './had-already.js';
import { noteMissing, spanOf } from './missing-people.js';
import { type CountedState, type PeopleHead, type PersonState, readPeople } from './people-file.js';
import {
  isSameRun,
  listPeopleOf,
  listTextsOf,
  markOf,
  nameOfPeople,
  notePeople,
  peopleDirectoryOf,
  type RunMark,
  type RunOfPeople,
  readFacts,
  readMark,
  readOutputs,
  readPeopleHeads,
  readRowsOf,
  refusePeopleFile,
} from './people-memory.js';
import { PeopleTable } from './people-table.js';
import { PlannedTexts } from './planned-texts.js';

/**
 * A run is about to send, or to go on: all of its messages count from now on, but for those of people who had theirs since its plan was
 * made. Gives why it sends nothing to these: it is to be asked before each request. Of two runs that begin in one moment each may see the
 * other: then neither sends to those that both have.
 */
export async function beginPeople(
  files: Files,
  run: RunOfPeople,
  { nowMs, onNotice }: { nowMs: number; onNotice: (notice: string) => void },
): Promise<FindHad | undefined> {
  const { directory, plan } = run;
  if (plan.testOf !== undefined || !plan.steps.some(({ number }) => listTextsOf(plan.job, number) !== undefined))
    return;
  const jobDirectory = dirname(directory);
  const rows = await readRowsOf(files, run);
  const mark = markOf(plan.id, rows.state);
  const asking = { jobDirectory, nowMs: () => nowMs, onNotice, begun: { ...run, mark } };
  const look = async () => (await openPeople(files, plan, asking))?.().find;
  const readOthers = () => readFacts(files, peopleDirectoryOf(plan.job, jobDirectory), mark);
  const before = await readOthers();
  const findHad = await look();
  await notePeople(files, run, { nowMs, rows, findHad });
  return (await readOthers()) === before ? findHad : look();
}

interface Asking {
  readonly jobDirectory: string;
  readonly nowMs: () => number;
  readonly onNotice: (notice: string) => void;
  /** The plan is made, and is about to be sent: what this very run has to send it does not hold against itself. */
  readonly begun: (RunOfPeople & { readonly mark: RunMark | undefined }) | undefined;
}

export function createOpenPeople(files: Files, times: Omit<Asking, 'jobDirectory' | 'begun'>): OpenPeople {
  return (plan, jobDirectory) => openPeople(files, plan, { ...times, jobDirectory, begun: undefined });
}

/**
 * Reads who had what, as far as a plan asks for it, from the runs of its account. The run whose rows it retries gives them up: only
 * what it sent counts.
 */
async function openPeople(
  files: Files,
  plan: Parameters<OpenPeople>[0],
  { jobDirectory, nowMs, onNotice, begun }: Asking,
): ReturnType<OpenPeople> {
  const { id, job, retryOf } = plan;
  const rules = { ...job, sameText: sameTextRule(plan), plan: { id: id ?? '', job } };
  const directory = peopleDirectoryOf(job, jobDirectory);
  const steps = job.steps.filter((_, index) => listTextsOf(job, index + 1) !== undefined);
  const spanMs = spanOf(job);
  if (steps.length > 0) {
    const isNew = job.memory !== undefined && (await readOutputs(files, directory)).length === 0;
    const made = await noteMissing(files, { job, jobDirectory, spanMs }, nowMs());
    if (made > 0) onNotice(describeMade(made, directory, isNew));
  }
  const { key, heads: all } = await readPeopleHeads(files, directory);
  const accounts = new Set(job.steps.map(({ kind }) => accountOfKind(job, kind)));
  const isRecent = ({ isOver, sentAt }: PeopleHead) => !isOver || nowMs() - sentAt <= spanMs;
  const heads = all
    .map(({ head }) => head)
    .filter((head) => isRecent(head) && !isSameRun(head, begun?.mark) && accounts.has(head.account));
  const retried =
    retryOf && (await readMark(files, (await RunDirectories.read(files, jobDirectory)).of(retryOf.run), retryOf.run));
  // Else no number is in it twice.
  const mayRepeat = steps.length > 1 || steps.some((step) => step.kind === 'sms' && step.duplicates === 'keep');
  const countsOwn = job.frequency !== undefined && mayRepeat;
  const texts = steps.length > 1 && begun === undefined ? new PlannedTexts() : undefined;
  if (heads.length === 0 && !countsOwn && texts === undefined) return undefined;
  const table = await loadTable(files, directory, { heads, key, retried });
  if (countsOwn && begun !== undefined) await addOwn(table, files, begun);
  const counts = !countsOwn ? 'none' : begun === undefined ? 'those before' : 'all others';
  const runs = heads.flatMap((head) => COUNTED.map((counted) => ({ ...head, state: counted })));
  const known: KnownPeople = { table, runs, counts, retried, texts };

  return () => createHadLookup(known, rules, nowMs());
}

async function addOwn(table: PeopleTable, files: Files, run: RunOfPeople): Promise<void> {
  for await (const batch of listPeopleOf(files, run, { steps: run.plan.steps, stateOf: () => 'to-send' }))
    for (const { number } of batch) table.addOwn(number);
}

const COUNTED: readonly CountedState[] = ['accepted', 'in-doubt', 'to-send'];

async function loadTable(
  files: Files,
  directory: string,
  { heads, key, retried }: { heads: readonly PeopleHead[]; key: Buffer; retried: RunMark | undefined },
): Promise<PeopleTable> {
  const table = new PeopleTable(heads.reduce((sum, { records }) => sum + records, 0));
  for (const [run, head] of heads.entries()) {
    const path = join(directory, nameOfPeople(head));
    const isRetried = isSameRun(head, retried);
    const add = (number: number, text: number, state: PersonState) => {
      const place = COUNTED.indexOf(state as CountedState);
      if (place !== -1 && !(isRetried && state === 'to-send')) table.add(number, text, COUNTED.length * run + place);
    };
    if (!(await readPeople(files, path, { key, add }))) throw refusePeopleFile(path, head.plan);
  }
  return table;
}

function describeMade(made: number, directory: string, isNew: boolean): string {
  const others = isNew ? '; those of jobs with another output directory come with their next run' : '';
  return `${directory} lacked the messages of ${countOf(made, 'run')}: they are added from plans and journals${others}`;
}
