import { join } from 'node:path';
import { countOf } from '../domain/count-of.js';
import { quoteWord } from '../domain/errors.js';
import { JOURNAL_FILE, PLAN_FILE, type Plan, readPlan } from '../plan/format/plan-file.js';
import type { RunDirectories } from '../plan/format/run-directories.js';
import type { RegistryState } from '../registry/registry-state.js';
import type { Files } from '../storage/files.js';

export interface WaitingPlan {
  readonly directory: string;
  readonly plan: Plan;
  /** How many rows of other runs it has claimed. */
  readonly rows: number;
}

/** Plans of a job that have claimed rows of other runs, and that nobody has begun to send, or let go. */
export async function listWaiting(
  files: Files,
  directories: RunDirectories,
  registry: RegistryState,
): Promise<WaitingPlan[]> {
  const waiting: WaitingPlan[] = [];
  for (const id of registry.claims.plans) {
    const directory = directories.of(id);
    const isThere = async (file: string) => (await files.stat(join(directory, file))) !== undefined;
    if (registry.isAbandoned(id) || !(await isThere(PLAN_FILE)) || (await isThere(JOURNAL_FILE))) continue;
    waiting.push({ directory, plan: await readPlan(files, directory), rows: registry.claims.countOf(id) });
  }
  return waiting;
}

/** What is to be done: only the plan sends its rows. */
export function describeWaiting({ directory, plan: { id, retryOf }, rows }: WaitingPlan): string {
  const from = retryOf === undefined ? 'other runs' : `run ${retryOf.run}`;
  const anew = retryOf === undefined ? `; to have them planned anew: \`volley abandon ${quoteWord(directory)}\`` : '';
  return `plan ${id} has claimed ${countOf(rows, 'row')} of ${from} and was never applied; to send them: \`volley apply ${quoteWord(directory)}\`${anew}`;
}
