import { join } from 'node:path';
import { PLAN_FILE, type Plan } from '../../plan/format/plan-file.js';
import type { Files } from '../../storage/files.js';
import { digestPlan } from '../registry-entry.js';
import type { KnownRun, RegistryState } from '../registry-state.js';

/** Tests of this very plan.json, in the order in which they began: one that was made again under other settings is another plan. */
export async function listTestsOf(
  files: Files,
  { directory, plan }: { directory: string; plan: Plan },
  registry: RegistryState,
): Promise<KnownRun[]> {
  const tests = registry.listTests(plan.id);
  if (tests.length === 0) return [];
  const planSha256 = digestPlan((await files.readText(join(directory, PLAN_FILE))) ?? '');
  return tests.filter(({ begun }) => begun.testOf?.planSha256 === planSha256);
}
