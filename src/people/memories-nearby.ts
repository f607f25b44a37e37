import { dirname, join, relative } from 'node:path';
import { countOf, listMost, sumOf } from '../domain/count-of.js';
import type { Job } from '../job/job.js';
import type { Files } from '../storage/files.js';
import type { PeopleHead } from './people-file.js';
import { PEOPLE_DIRECTORY, peopleDirectoryOf, readPeopleHeads } from './people-memory.js';

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
