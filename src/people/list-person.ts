import { join } from 'node:path';
import type { StatedTime } from '../domain/stated-time.js';
import type { Job } from '../job/job.js';
import { listHeld } from '../kinds/schedule.js';
import { personOf } from '../normalize/number/number-set.js';
import { PLAN_FILE, type Plan, type PlannedStep, readPlan } from '../plan/format/plan-file.js';
import { readRequests } from '../plan/format/planned-files.js';
import { explainReason } from '../report/account.js';
import { readRunRows } from '../report/run-rows.js';
import type { Files } from '../storage/files.js';
import { noteMissing, spanOf } from './missing-people.js';
import { type PeopleHead, type PersonState, readPeople } from './people-file.js';
import {
  isSameRun,
  listTextsOf,
  peopleDirectoryOf,
  readMark,
  readPeopleHeads,
  refusePeopleFile,
} from './people-memory.js';

/** What a person was sent, or will be. */
export interface MessageToPerson {
  readonly run: string;
  readonly job: string;
  /** When its run last sent, ISO 8601. */
  readonly at: string;
  readonly state: PersonState;
  /** Why it was rejected, or not sent; null where it was, or nothing says so. */
  readonly why: string | null;
  /** Until when the service holds it; null where it does not, or nothing says so. */
  readonly scheduled: StatedTime | null;
  /** Where its run was when it was noted. */
  readonly directory: string;
  /** What it says; undefined where the rows of its run are not where they were: it was moved, removed or pruned. */
  readonly text: string | undefined;
}

/** All messages to a number that the memory of a job knows of, the latest first. `sinceMs`: of runs alone that sent something since. */
export async function listMessagesTo(
  number: number,
  { job, jobDirectory, nowMs, sinceMs = 0 }: { job: Job; jobDirectory: string; nowMs: number; sinceMs?: number },
  files: Files,
): Promise<MessageToPerson[]> {
  const directory = peopleDirectoryOf(job, jobDirectory);
  await noteMissing(files, { job, jobDirectory, spanMs: spanOf(job) }, nowMs);
  const person = personOf(number);
  const { key, heads } = await readPeopleHeads(files, directory);
  const found: MessageToPerson[] = [];
  for (const { path, head } of heads.filter((each) => each.head.sentAt >= sinceMs)) {
    const places: { at: number; state: PersonState }[] = [];
    let next = 0;
    const add = (each: number, _text: number, state: PersonState) => {
      if (personOf(each) === person) places.push({ at: next, state });
      next += 1;
    };
    if (!(await readPeople(files, path, { key, add }))) throw refusePeopleFile(path, head.plan);
    for (const { at, state } of places) found.push(await describeMessage({ head, at, state }, files, nowMs));
  }
  return found.sort((one, other) => (one.at < other.at ? 1 : -1));
}

async function describeMessage(
  { head, at, state }: { head: PeopleHead; at: number; state: PersonState },
  files: Files,
  nowMs: number,
): Promise<MessageToPerson> {
  const { directory } = head;
  const isThere = (await files.stat(join(directory, PLAN_FILE))) !== undefined;
  const isIt = isThere && isSameRun(head, await readMark(files, directory, head.plan));
  const run = isIt ? { directory, plan: await readPlan(files, directory) } : undefined;
  const place = run && findRow(at, run.plan);
  const known = { run: head.plan, job: head.job, at: new Date(head.sentAt).toISOString(), state, directory };
  if (run === undefined || place === undefined) return { ...known, why: null, scheduled: null, text: undefined };
  const [step, row] = place;
  const held = MAY_WAIT.has(state) ? listHeld(run.plan.job, nowMs) : [];
  const scheduled = held.find(({ number }) => number === step.number)?.at ?? null;
  const code = HAS_WHY.has(state) ? (await readRunRows(files, run)).rows.codeOf(step.number, row) : '';
  const why = code === '' ? null : explainReason({ code, rows: 1, said: '' }).is;
  return { ...known, why, scheduled, text: await readText(row, { directory, step }, files) };
}

const MAY_WAIT: ReadonlySet<PersonState> = new Set(['accepted', 'in-doubt']);
const HAS_WHY: ReadonlySet<PersonState> = new Set(['rejected', 'not-sent']);

/** `place`: among the planned rows of all steps that send texts. */
function findRow(place: number, { job, steps }: Plan): [step: PlannedStep, row: number] | undefined {
  let left = place;
  for (const step of steps.filter(({ number }) => listTextsOf(job, number) !== undefined)) {
    if (left < step.counts.planned) return [step, left];
    left -= step.counts.planned;
  }
  return undefined;
}

async function readText(
  row: number,
  { directory, step }: { directory: string; step: PlannedStep },
  files: Files,
): Promise<string | undefined> {
  for await (const { body, first, rows } of readRequests(files, directory, step)) {
    if (row >= first + rows) continue;
    const { messages, template } = JSON.parse(body.toString('utf8'));
    return messages[row - first].text ?? template.text;
  }
  return undefined;
}
