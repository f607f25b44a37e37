import { basename, dirname } from 'node:path';
import { UserError } from '../errors.js';
import type { Files } from '../files.js';
import type { MadeIn, Plan } from './file.js';

export async function readPlace(files: Files, jobDirectory: string): Promise<MadeIn> {
  const found = await files.stat(jobDirectory);
  return { directory: jobDirectory, inode: found?.inode ?? 0 };
}

/** A run under another name beside its own would be sent as if it were one more. */
export function assertOwnName(directory: string, plan: Plan): void {
  if (basename(directory) === plan.id) return;
  throw new UserError(
    'bad-plan',
    `Cannot use ${directory}: it holds run ${plan.id}, expected a directory of that name`,
    {
      hint: `Give it its name back if it was renamed; move it out of ${dirname(directory)} if it is a copy: it would send everything again.`,
    },
  );
}

/**
 * The directory of a job that was copied elsewhere holds copies of all its runs: gone on with in both places, they would be
 * sent twice. One that was moved, or that is mounted under another path, is the same; so is one that was put back where it was.
 */
export async function assertOwnPlace(files: Files, jobDirectory: string, { id, madeIn }: Plan): Promise<void> {
  if (madeIn === undefined || madeIn.directory === jobDirectory) return;
  const { inode } = await readPlace(files, jobDirectory);
  if (inode === madeIn.inode) return;
  throw new UserError(
    'bad-plan',
    `Cannot use run ${id} in ${jobDirectory}: it is a copy of the one in ${madeIn.directory}, which may be gone on with there`,
    {
      hint: 'Go on with it there, or move the directory instead of copying it. If the other is gone for good, take "madeIn" out of plan.json.',
    },
  );
}
