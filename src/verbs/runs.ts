import { basename, join, resolve } from 'node:path';
import { lockDepsOf } from '../command/env.js';
import { escapeText, formatHeadline, type Screen } from '../command/screen.js';
import { jobDirectoryOf } from '../command/with-job.js';
import { countOf, formatBytes } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { loadJob } from '../job/load.js';
import { type ListedRun, listRuns } from '../prune/list-runs.js';
import { holdsRegistry, readRegistry } from '../registry/open-registry.js';
import type { Files } from '../storage/files.js';
import { readLockOwner } from '../storage/lock.js';
import { type Column, formatCount, formatTable, NO_FIGURE } from '../texts/table.js';
import { defineVerb, json } from './verb.js';

/** `volley runs [JOB|DIRECTORY]`: the runs of a job, or of all jobs in an output directory, the newest first; writes nothing. */
export const runs = defineVerb({
  args: {
    job: {
      describe: 'A job file, the directory of a job in the output, or an output directory (default: this directory)',
      type: 'string',
    },
  },
  flags: { json },
  examples: [
    ['jobs/spring-sale.yaml', 'one job'],
    ['out', 'all jobs whose output is there'],
  ],
  isLook: true,
  run: async ({ job: written = '.' }, { env, screen, workIn }) => {
    const { files } = env;
    const jobs: { job: string; runs: ListedRun[] }[] = [];
    for (const jobDirectory of await findJobs(written, files)) {
      workIn(jobDirectory);
      const registry = await readRegistry(files, jobDirectory);
      const isRunning = (await readLockOwner(lockDepsOf(env), jobDirectory)) !== undefined;
      const runs = await listRuns(files, { jobDirectory, registry, isRunning });
      jobs.push({ job: basename(jobDirectory), runs });
    }
    const listed = jobs.flatMap(({ job, runs }) => runs.map((run) => ({ job, ...run })));
    return {
      json: { state: 'listed', runs: listed },
      text: formatRuns(jobs, screen),
      reason: countOf(listed.length, 'run'),
    };
  },
});

async function findJobs(written: string, files: Files): Promise<string[]> {
  const path = resolve(written);
  const found = await files.stat(path);
  if (found !== undefined && !found.isDirectory) return [jobDirectoryOf(await loadJob(written))];
  if (await holdsRegistry(files, path)) return [path];
  const jobs: string[] = [];
  for (const name of await files.list(path)) {
    const directory = join(path, name);
    if ((await files.stat(directory))?.isDirectory === true && (await holdsRegistry(files, directory)))
      jobs.push(directory);
  }
  if (jobs.length > 0) return jobs;
  const what = found === undefined ? 'it does not exist' : 'no job has run in it';
  throw new UserError(
    'bad-plan',
    `Cannot list runs of ${written}: ${what}, expected a job file, the directory of a job or its output directory`,
    { hint: 'Name the output directory of your jobs, such as `volley runs out`. A job has runs once it was planned.' },
  );
}

const COLUMNS = [
  { title: 'state', of: ({ state }) => state },
  { title: 'exit', of: ({ exitCode }) => (exitCode === null ? NO_FIGURE : String(exitCode)) },
  { title: 'accepted', style: 'green', of: ({ balance }) => formatCount(balance?.accepted) },
  { title: 'rejected', style: 'red', of: ({ balance }) => formatCount(balance?.rejected) },
  { title: 'in doubt', style: 'magenta', of: ({ balance }) => formatCount(balance?.inDoubt) },
  { title: 'not sent', style: 'magenta', of: ({ balance }) => formatCount(balance?.unprocessed) },
  { title: 'on disk', of: ({ bytes }) => formatBytes(bytes) },
] as const satisfies readonly (Column & { of(run: ListedRun): string })[];

/** Two lines for each run: when, how it ended and its figures; its id and its files. */
function formatRuns(jobs: readonly { job: string; runs: readonly ListedRun[] }[], screen: Screen): string {
  return jobs
    .map(({ job, runs }) => {
      const head = formatHeadline(`Job ${job}: ${countOf(runs.length, 'run')}`, 'bold', screen);
      const rows = runs.map((run) => ({
        name: (run.startedAt ?? run.plannedAt ?? '').slice(0, 16).replace('T', ' '),
        cells: COLUMNS.map(({ of }) => of(run)),
        below: escapeText(`${run.run}  ${describeRows(run)}`),
      }));
      return `${head}\n\n${formatTable(COLUMNS, rows, { head: 'began (UTC)', screen })}\n`;
    })
    .join('\n');
}

function describeRows({ approvals, problem, testOf, retryOf, files }: ListedRun): string {
  const approved = approvals === undefined ? '' : `; ${approvals.count} of ${countOf(approvals.required, 'approval')}`;
  const test = testOf === null ? 'test of the job' : testOf && `test of run ${testOf}`;
  const rows = retryOf === null ? files.join(', ') : `rows of run ${retryOf}`;
  return `${problem ?? test ?? rows}${approved}`;
}
