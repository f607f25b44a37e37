import { countOf } from '../domain/count-of.js';
import { quoteWord, UserError } from '../domain/errors.js';
import type { Guards } from '../job/job.js';
import type { Plan } from '../plan/format/plan-file.js';
import type { RegistryState } from '../registry/registry-state.js';
import { type KnownTest, listTestsOf } from '../registry/write-run-report.js';
import type { Files } from '../storage/files.js';

/**
 * Refuses to send a plan of which no test was accepted, where a guard asks for one. It must be a test of this very plan.json: a
 * plan that was made again under other settings is another one. Tests that were pruned count, and
 * those whose rows in doubt were settled; a plan without messages needs none.
 */
export async function assertTested(
  files: Files,
  { directory, plan, guards }: { directory: string; plan: Plan; guards: Guards },
  registry: RegistryState,
): Promise<void> {
  if (guards.requireTest !== true || plan.testOf !== undefined) return;
  if (plan.steps.every(({ kind, counts }) => kind !== 'sms' || counts.planned === 0)) return;
  const tests = await listTestsOf(files, { directory, plan }, registry);
  if (tests.some(wasAccepted)) return;
  const so = tests.length === 0 ? 'it was not tested' : `${countOf(tests.length, 'test')} of it, none accepted in full`;
  const to = plan.job.testNumbers === undefined ? ' --to NUMBER' : '';
  throw new UserError('guard', `Cannot send plan ${plan.id}: ${so}, expected an accepted test (guards.requireTest)`, {
    hint: `Nothing was sent. Test it with \`volley test ${quoteWord(directory)}${to}\`, then send it with \`volley apply ${quoteWord(directory)}\`.`,
  });
}

/** Each of its messages. */
export function wasAccepted({ counts }: KnownTest): boolean {
  return counts !== undefined && counts.read > 0 && counts.accepted === counts.read;
}
