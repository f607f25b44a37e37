import { join } from 'node:path';
import { countOf } from '../domain/count-of.js';
import { quoteWord, UserError } from '../domain/errors.js';
import type { Guards } from '../job/job.js';
import { readRunState } from '../journal/reader.js';
import { JOURNAL_FILE, type Plan, type PlanAt } from '../plan/format/plan-file.js';
import { sendsNothing } from '../plan/guards.js';
import { type Approvals, listApproveFlags, readApprovals } from '../registry/approvals.js';
import type { RegistryState } from '../registry/registry-state.js';
import { listTestsOf } from '../registry/write-run-report.js';
import type { SentTest } from '../report/page/other-runs.js';
import type { Files } from '../storage/files.js';
import { hasWork } from './resume.js';
import { findFailing } from './send/breaker.js';
import { findHeldBack } from './send/sending-stages.js';

/** Refuses a plan that its job lets be sent only once it was tested and approved, and that was not. */
export async function assertReleased(
  files: Files,
  run: PlanAt & { guards: Guards },
  registry: RegistryState,
): Promise<void> {
  await assertTested(files, run, registry);
  await assertApproved(files, run, registry);
}

/** What a plan lacks of that, by its own guards, in the order in which it is asked for; undefined where it may be sent, or sends nothing. */
export async function findLacking(
  files: Files,
  run: PlanAt,
  registry: RegistryState,
): Promise<'test' | 'approval' | undefined> {
  const { guards } = run.plan.job;
  if (sendsNothing(run.plan)) return undefined;
  if (needsTest({ ...run, guards }) && !(await listTestsOf(files, run, registry)).some(wasAccepted)) return 'test';
  const { required, count } = await readApprovals(files, run, registry);
  return count < required ? 'approval' : undefined;
}

function needsTest({ plan, guards }: { plan: Plan; guards: Guards }): boolean {
  if (guards.requireTest !== true || plan.testOf !== undefined) return false;
  return plan.steps.some(({ kind, counts }) => kind === 'sms' && counts.planned > 0);
}

/**
 * Refuses to send a plan of which no test was accepted, where a guard asks for one. It must be a test of this very plan.json: a
 * plan that was made again under other settings is another one. Tests that were pruned count, and
 * those whose rows in doubt were settled; a plan without messages needs none.
 */
async function assertTested(
  files: Files,
  { directory, plan, guards }: PlanAt & { guards: Guards },
  registry: RegistryState,
): Promise<void> {
  if (!needsTest({ plan, guards })) return;
  const tests = await listTestsOf(files, { directory, plan }, registry);
  if (tests.some(wasAccepted)) return;
  const so = tests.length === 0 ? 'it was not tested' : `${countOf(tests.length, 'test')} of it, none accepted in full`;
  const to = plan.job.testNumbers === undefined ? ' --to NUMBER' : '';
  throw new UserError('guard', `Cannot send plan ${plan.id}: ${so}, expected an accepted test (guards.requireTest)`, {
    hint: `Nothing was sent. Test it with \`volley test ${quoteWord(directory)}${to}\`, then send it with \`volley apply ${quoteWord(directory)}\`.`,
  });
}

function wasAccepted({ counts }: SentTest): boolean {
  return counts !== undefined && counts.read > 0 && counts.accepted === counts.read;
}

/** Refuses to send a plan that lacks approvals, where the job that it was planned from asks for them (`guards.requireApproval`). */
async function assertApproved(files: Files, run: PlanAt, registry: RegistryState): Promise<void> {
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
        `\`volley approve ${quoteWord(directory)} ${listApproveFlags(plan, planSha256).join(' ')}\`; then \`volley apply ${quoteWord(directory)}\` sends it.`,
    },
  );
}

/** `1 approval counts; that of bob does not: plan.json was another one` */
function describeApprovals({ count, given }: Pick<Approvals, 'count' | 'given'>): string {
  const faults = given.flatMap(({ name, fault }) =>
    fault === null || fault === 'given before' ? [] : [`that of ${name} does not count: ${fault}`],
  );
  const has = count === 0 ? 'it has no approval' : `it has ${countOf(count, 'approval')}`;
  return [count === 0 && faults.length > 0 ? 'it has no approval that counts' : has, ...faults].join('; ');
}

/**
 * Refuses to resume a run automatically that the service refused as a whole, or mostly: its requests are fixed in the plan, and
 * each try would cost rows. A person fixes the job or the account first, and the next command says which.
 */
export async function assertNotRefused(files: Files, { directory, plan }: PlanAt, guards: Guards): Promise<void> {
  const { state } = await readRunState(files, join(directory, JOURNAL_FILE));
  const { reason, detail } = state.lastClose ?? {};
  const [why] = plan.steps.flatMap((planned) => {
    if (!hasWork(planned, state)) return [];
    if (reason === 'request-refused') return detail ?? [];
    return (reason === 'guard' && findFailing(state.step(planned.number).settledRows, guards.maxFailedPercent)) || [];
  });
  if (why === undefined) return;
  const first = findHeldBack(plan, state) === undefined ? '' : `\`volley abandon ${quoteWord(directory)}\` and then `;
  throw new UserError('guard', `Cannot resume run ${plan.id}: ${why}`, {
    hint:
      `Nothing more was sent. If you fixed the job file: ${first}\`volley retry ${quoteWord(directory)} --only unprocessed\`, with --job and the job file, plans the rest, ` +
      `and --only rejected plans the rows that were refused. If the service was fixed: \`volley apply ${quoteWord(directory)}\` sends the rest as it was planned.`,
  });
}
