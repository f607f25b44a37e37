import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { UserError } from '../errors.js';
import { type Files, nodeFiles } from '../files.js';
import { type Plan, readPlan } from '../plan/file.js';
import { assertOwnName, assertOwnPlace } from '../plan/place.js';

/**
 * The run directory that an argument names, links followed, with its plan. Refuses one that does not stand where it was
 * made, `<output>/<job>/<plan id>`: lock and history stand beside it, and a copy would send everything once more.
 */
export async function openRunDirectory(
  written: string,
  files: Files = nodeFiles,
): Promise<{ directory: string; plan: Plan }> {
  const directory = await followLinks(resolve(written));
  const plan = await readPlan(files, directory);
  assertOwnName(directory, plan);
  const jobDirectory = dirname(directory);
  if (basename(jobDirectory) !== plan.job.name) {
    throw new UserError(
      'bad-plan',
      `Cannot use ${directory}: it holds run ${plan.id} of job ${plan.job.name}, expected it in …/${plan.job.name}/${plan.id}`,
      {
        hint: 'Give the directory that `volley plan` or `volley run` printed; a copy of it would send everything again.',
      },
    );
  }
  await assertOwnPlace(files, directory);
  return { directory, plan };
}

/** A link to a run is that run; where only a directory above it is a link, such as one to a volume, the path stays as written. */
async function followLinks(path: string): Promise<string> {
  const follow = (each: string) => realpath(each).catch(() => each);
  const [real, realParent] = await Promise.all([follow(path), follow(dirname(path))]);
  return real === join(realParent, basename(path)) ? path : real;
}
