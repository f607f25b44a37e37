import { join } from 'node:path';
import type { Job } from '../job/job.js';
import { PLAN_FILE, type Plan, readPlan } from '../plan/format/plan-file.js';
import { readRequests } from '../plan/format/planned-files.js';
import type { RunDirectories } from '../plan/format/run-directories.js';
import type { Files } from '../storage/files.js';
import { noteMissing, spanOf } from './missing-people.js';
import { type PeopleHead, type PersonState, readPeople } from './people-file.js';
import { listTextsOf, peopleDirectoryOf, readPeopleHeads } from './people-memory.js';

/** What a person was sent, or will be. */
interface MessageToPerson {
  readonly run: string;
  readonly job: string;
  /** When its run last sent, ISO 8601. */
  readonly at: string;
  readonly state: PersonState;
  /** Undefined where the rows of its run are not in the directory of the job: it is another's, or pruned. */
  readonly text: string | undefined;
}

/** All messages to a number that the memory of a job knows of, the latest first. */
export async function listMessagesTo(
  number: number,
  { job, directories, nowMs }: { job: Job; directories: RunDirectories; nowMs: number },
  files: Files,
): Promise<MessageToPerson[]> {
  const { jobDirectory } = directories;
  const directory = peopleDirectoryOf(job, jobDirectory);
  await noteMissing(files, { job, jobDirectory, spanMs: spanOf(job) }, nowMs);
  const { key, heads } = await readPeopleHeads(files, directory);
  const found: MessageToPerson[] = [];
  for (const { path, head } of heads) {
    const places: { at: number; state: PersonState }[] = [];
    let next = 0;
    const add = (each: number, _text: number, state: PersonState) => {
      if (each === number) places.push({ at: next, state });
      next += 1;
    };
    await readPeople(files, path, { key, add });
    for (const { at, state } of places) found.push(await describeMessage({ head, at, state }, directories, files));
  }
  return found.sort((one, other) => (one.at < other.at ? 1 : -1));
}

async function describeMessage(
  { head, at, state }: { head: PeopleHead; at: number; state: PersonState },
  directories: RunDirectories,
  files: Files,
): Promise<MessageToPerson> {
  const directory = directories.of(head.plan);
  const isThere = (await files.stat(join(directory, PLAN_FILE))) !== undefined;
  const text = isThere ? await readText(at, { directory, plan: await readPlan(files, directory) }, files) : undefined;
  return { run: head.plan, job: head.job, at: new Date(head.sentAt).toISOString(), state, text };
}

/** `place`: among the planned rows of all steps that send texts. */
async function readText(
  place: number,
  { directory, plan }: { directory: string; plan: Plan },
  files: Files,
): Promise<string | undefined> {
  let left = place;
  for (const step of plan.steps) {
    if (listTextsOf(plan.job, step.number) === undefined) continue;
    if (left >= step.counts.planned) {
      left -= step.counts.planned;
      continue;
    }
    for await (const { body, first, rows } of readRequests(files, directory, step)) {
      if (left >= first + rows) continue;
      const { messages, template } = JSON.parse(body.toString('utf8'));
      return messages[left - first].text ?? template.text;
    }
  }
  return undefined;
}
