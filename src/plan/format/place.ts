import { basename, dirname, join } from 'node:path';
import { UserError } from '../../domain/errors.js';
import type { Files } from '../../storage/files.js';
import { type Identity, identityOf, isSameIdentity } from '../../storage/identity.js';
import type { Plan } from './plan-file.js';
import { readRunName } from './run-directories.js';

/** Kept beside plan.json, which depends on the input alone. */
const PLACE_FILE = 'place.json';

/** Where a plan was made: its job's directory, by path and by an identity that survives a move. */
interface Place extends Identity {
  readonly jobDirectory: string;
}

export async function writePlace(files: Files, directory: string, jobDirectory: string): Promise<void> {
  const found = await files.stat(jobDirectory);
  const identity =
    found === undefined ? { path: jobDirectory, device: 0, inode: 0, bornMs: 0 } : identityOf(jobDirectory, found);
  await files.writeWhole(
    join(directory, PLACE_FILE),
    `${JSON.stringify({ jobDirectory, ...identity } satisfies Place)}\n`,
  );
}

/** A copy of a run under another name would be sent as a second run. */
export function assertOwnName(directory: string, plan: Plan): void {
  if (readRunName(basename(directory)) === plan.id) return;
  throw new UserError(
    'bad-plan',
    `Cannot use ${directory}: it holds run ${plan.id}, expected a name that ends in that id`,
    {
      hint: `Give it its name back if it was renamed; move it out of ${dirname(directory)} if it is a copy: it would send everything again.`,
    },
  );
}

/**
 * A copied job directory holds copies of all its runs: resumed in both places, they would be sent twice. A directory
 * that was moved, or mounted under another path, is the same one; so is one that was restored in place.
 */
export async function assertOwnPlace(files: Files, directory: string): Promise<void> {
  const place = await readPlace(files, directory);
  const jobDirectory = dirname(directory);
  if (place === undefined || place.jobDirectory === jobDirectory) return;
  const found = await files.stat(jobDirectory);
  if (place.inode !== 0 && found !== undefined && isSameIdentity(place, identityOf(jobDirectory, found))) return;
  throw new UserError(
    'bad-plan',
    `Cannot use ${directory}: it is a copy of the one in ${place.jobDirectory}, where its run may be resumed`,
    {
      hint: `Resume it there, or move the directory instead of copying it. If the other is gone for good, remove ${PLACE_FILE} here.`,
    },
  );
}

/** Undefined for an emptied file. */
async function readPlace(files: Files, directory: string): Promise<Place | undefined> {
  const text = await files.readText(join(directory, PLACE_FILE));
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Place);
  } catch {
    return undefined;
  }
}
