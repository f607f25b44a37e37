import { UserError } from '../domain/errors.js';
import { accountOfKind } from '../plan/format/account-of.js';
import { digestsOf, type Plan } from '../plan/format/plan-file.js';
import { readAgain } from '../plan/occurrence.js';
import type { PastRun } from '../registry/read-runs.js';
import type { RegistryState } from '../registry/registry-state.js';

/** A plan, the run that it has its rows from, and so on to the one that read them from files. */
export function lineOf(plan: Plan, plans: ReadonlyMap<string, Plan>): string[] {
  const line = [plan.id];
  for (let of = plan.retryOf; of !== undefined; of = plans.get(of.run)?.retryOf) line.push(of.run);
  return line;
}

/** Refuses a plan with rows of a run that is gone, from whichever of its line it has them. `doing` completes "Cannot …". */
export function assertLineIsThere(plan: Plan, history: readonly PastRun[], doing: string): void {
  const plans = new Map([...history.map((run) => run.plan), plan].map((each) => [each.id, each]));
  const gone = lineOf(plan, plans).find((id) => !plans.has(id));
  if (gone === undefined) return;
  throw new UserError(
    'plan-mismatch',
    `Cannot ${doing}: run ${gone} is gone, and with it what delivery receipts show of its rows, they might be sent twice`,
    { hint: 'Put its directory back from a backup, with --adopt.' },
  );
}

/** Refuses rows that were not sent, and that a person has sent since, by `--again`, with all of their file. */
export function assertNotSentAgain(
  registry: RegistryState,
  { plan, sinceMs, doing }: { plan: Plan; sinceMs: number; doing: string },
): void {
  const again = findSentAgain(registry, plan, sinceMs);
  if (again === undefined) return;
  throw new UserError(
    'plan-mismatch',
    `Cannot ${doing}: run ${again.run} has sent ${again.file} again since, with --again, and its people would get the message twice`,
    { hint: `What became of them is in run ${again.run}: retry the rows of that run.` },
  );
}

/**
 * The run that a person had send files of a plan once more, by `--again`, after a moment: it has their rows since then. Undefined where
 * none did, and for a job that repeats on its own. Pure.
 */
function findSentAgain(
  registry: RegistryState,
  { job, steps }: Plan,
  sinceMs: number,
): { readonly run: string; readonly file: string } | undefined {
  if (job.repeat === 'always') return undefined;
  for (const { kind, inputs } of steps) {
    for (const input of inputs) {
      const takers = registry.listTakers(kind, digestsOf(input), { account: accountOfKind(job, kind), occurrence: '' });
      const run = takers.findLast((id) => {
        const begun = registry.runs.get(id)?.begun;
        return begun !== undefined && begun.at > sinceMs && readAgain(begun.occurrence) > 1;
      });
      if (run !== undefined) return { run, file: input.file };
    }
  }
  return undefined;
}
