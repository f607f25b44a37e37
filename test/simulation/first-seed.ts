import { execFileSync } from 'node:child_process';

const SPACING = 1000;
/** Random numbers are made of 32 bits of a seed: these stay below. */
const STARTS = 2_000_000;

/**
 * Where the seeds of a test begin: at another place with every commit, so that it keeps on looking, and at the same one as often as a
 * commit is tested. `commit` is hexadecimal; without one, it is 1.
 */
export function firstSeedOf(commit: string | undefined): number {
  return commit === undefined ? 1 : 1 + (Number.parseInt(commit.slice(0, 8), 16) % STARTS) * SPACING;
}

/** The commit that is checked out; undefined where there is no git, or none of this project. */
export function readCommit(directory: string): string | undefined {
  try {
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: directory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    return /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined;
  } catch {
    return undefined;
  }
}
