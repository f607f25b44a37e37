import { countOf } from '../domain/count-of.js';
import { quoteWord, UserError } from '../domain/errors.js';
import type { Plan } from '../plan/format/plan-file.js';
import { sendsNothing } from '../plan/guards.js';
import { type Approvals, readApprovals } from '../registry/approvals.js';
import type { RegistryState } from '../registry/registry-state.js';
import type { Files } from '../storage/files.js';

/** Refuses to send a plan that lacks approvals, where the job that it was planned from asks for them (`guards.requireApproval`). */
export async function assertApproved(
  files: Files,
  run: { directory: string; plan: Plan },
  registry: RegistryState,
): Promise<void> {
  const { directory, plan } = run;
  const approvals = await readApprovals(files, run, registry);
  const { required, count, planSha256 } = approvals;
  if (count >= required || sendsNothing(plan)) return;
  throw new UserError(
    'guard',
    `Cannot send plan ${plan.id}: ${describeApprovals(approvals)}, expected ${required} (guards.requireApproval)`,
    {
      hint:
        `Nothing was sent. Another person than ${plan.plannedBy}, who planned it, reviews it with \`volley preview ${quoteWord(directory)}\` and approves it with ` +
        `\`volley approve ${quoteWord(directory)} --confirm ${planSha256}\`; then \`volley apply ${quoteWord(directory)}\` sends it.`,
    },
  );
}

/** `1 approval counts; that of bob does not: plan.json was another one` */
export function describeApprovals({ count, given }: Pick<Approvals, 'count' | 'given'>): string {
  const faults = given.flatMap(({ name, fault }) =>
    fault === null || fault === 'given before' ? [] : [`that of ${name} does not count: ${fault}`],
  );
  const has = count === 0 ? 'it has no approval' : `it has ${countOf(count, 'approval')}`;
  return [count === 0 && faults.length > 0 ? 'it has no approval that counts' : has, ...faults].join('; ');
}
