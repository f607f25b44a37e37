import { join } from 'node:path';
import type { JournalEntry } from '../journal/entry-format.js';
import { readRunState } from '../journal/state-reader.js';
import { JOURNAL_FILE, type Plan } from '../plan/format/plan-file.js';
import { appendToRun } from '../registry/append-to-run.js';
import type { Registry } from '../registry/registry.js';
import type { Lock } from '../storage/lock.js';
import type { Ports } from '../storage/lock-file.js';

/**
 * What the run made whose rows a plan retries, such as the channel of a step, serves that plan too: it is noted in the plan's own
 * journal, and not made a second time. Nothing is done where the plan has, or is about to have, one of its own.
 */
export async function takeOverPrepared(
  {
    directory,
    plan,
    lock,
    registry,
  }: { directory: string; plan: Plan; lock: Lock; registry: Pick<Registry, 'directories'> },
  deps: Ports,
): Promise<void> {
  if (plan.retryOf === undefined) return;
  const source = await readRunState(deps.files, join(registry.directories.of(plan.retryOf.run), JOURNAL_FILE));
  const own = await readRunState(deps.files, join(directory, JOURNAL_FILE));
  if (own.state.isFinished) return;
  const entries = plan.steps.flatMap(({ number }): JournalEntry[] => {
    const ids = source.state.step(number).prepared;
    const { prepared, preparing } = own.state.step(number);
    if (ids === undefined || prepared !== undefined || preparing !== undefined) return [];
    return [{ type: 'prepared', step: number, at: deps.clock.now(), ids }];
  });
  if (entries.length > 0) await appendToRun({ directory, plan, ...own }, { entries, lock }, deps);
}
