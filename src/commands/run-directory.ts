import { realpath } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { UserError } from '../errors.js';
import { type Files, nodeFiles } from '../files.js';
import { type Plan, readPlan } from '../plan/file.js';

/**
 * The run directory that an argument names, links followed, with its plan. Refuses one that does not stand where it was
 * made, `<output>/<job>/<plan id>`: lock and history stand beside it, and a copy would send everything once more.
 */
export async function openRunDirectory(
  written: string,
  files: Files = nodeFiles,
): Promise<{ directory: string; plan: Plan }> {
  const directory = await realpath(written).catch(() => resolve(written));
  const plan = await readPlan(files, directory);
  if (basename(directory) !== plan.id || basename(dirname(directory)) !== plan.job.name) {
    throw new UserError(
      'bad-plan',
      `Cannot use ${directory}: it holds run ${plan.id} of job ${plan.job.name}, expected it in …/${plan.job.name}/${plan.id}`,
      {
        hint: 'Give the directory that `volley plan` or `volley run` printed; a copy of it would send everything again.',
      },
    );
  }
  return { directory, plan };
}
