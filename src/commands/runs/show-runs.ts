import { basename, join, resolve } from 'node:path';
import { envOf, type Host } from '../../command/deps.js';
import { placeDiskErrors } from '../../command/disk-error.js';
import { lockDepsOf } from '../../command/env.js';
import { printResult } from '../../command/print.js';
import { screenOf } from '../../command/screen.js';
import { jobDirectoryOf } from '../../command/with-job.js';
import { UserError } from '../../domain/errors.js';
import { loadJob } from '../../job/load.js';
import { type ListedRun, listRuns } from '../../prune/list-runs.js';
import { readRegistry } from '../../registry/open-registry.js';
import { REGISTRY_FILE } from '../../registry/registry-entry.js';
import { EXIT } from '../../report/exit-code.js';
import type { Files } from '../../storage/files.js';
import { readLockOwner } from '../../storage/lock.js';
import { formatRuns } from '../../texts/run-table.js';

/** `volley runs [JOB|DIRECTORY]`: the runs of a job, or of all jobs in an output directory, the newest first; writes nothing. */
export async function showRuns(
  flags: { job: string | undefined; json: boolean | undefined },
  host: Host,
): Promise<number> {
  const runtime = envOf(host);
  const { files } = runtime;
  const directories = await findJobs(flags.job ?? '.', files);
  const jobs: { job: string; runs: ListedRun[] }[] = [];
  for (const jobDirectory of directories) {
    const runs = await placeDiskErrors(jobDirectory, async () => {
      const { state } = await readRegistry(files, join(jobDirectory, REGISTRY_FILE));
      const isRunning = (await readLockOwner(lockDepsOf(runtime), jobDirectory)) !== undefined;
      return listRuns(files, { jobDirectory, registry: state, isRunning });
    });
    jobs.push({ job: basename(jobDirectory), runs });
  }
  const runs = jobs.flatMap(({ job, runs }) => runs.map((run) => ({ job, ...run })));
  const json = { state: 'listed', exitCode: EXIT.ok, error: null, runs };
  await printResult(host, flags, { json, text: formatRuns(jobs, screenOf(host)) });
  return EXIT.ok;
}

/** The directories of the jobs that an argument means. */
async function findJobs(written: string, files: Files): Promise<string[]> {
  const path = resolve(written);
  const found = await files.stat(path);
  if (found !== undefined && !found.isDirectory) return [jobDirectoryOf(await loadJob(written))];
  const holdsJob = async (directory: string) => (await files.stat(join(directory, REGISTRY_FILE))) !== undefined;
  if (await holdsJob(path)) return [path];
  const jobs: string[] = [];
  for (const name of await files.list(path)) {
    const directory = join(path, name);
    if ((await files.stat(directory))?.isDirectory === true && (await holdsJob(directory))) jobs.push(directory);
  }
  if (jobs.length > 0) return jobs;
  const what = found === undefined ? 'it does not exist' : 'no job has run in it';
  throw new UserError(
    'bad-plan',
    `Cannot list runs of ${written}: ${what}, expected a job file, the directory of a job or its output directory`,
    { hint: 'Plan or run a job first: volley plan, volley run.' },
  );
}
