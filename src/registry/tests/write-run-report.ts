import { dirname, join } from 'node:path';
import { UserError } from '../../domain/errors.js';
import type { Plan } from '../../plan/format/plan-file.js';
import type { SentTest } from '../../report/page/tests-section.js';
import type { Summary } from '../../report/summary.js';
import { type ReportOptions, writeReport } from '../../report/write-report.js';
import type { Files } from '../../storage/files.js';
import { readRegistry } from '../open-registry.js';
import { REGISTRY_FILE } from '../registry-entry.js';
import { type KnownTest, listTestsOf } from './list-tests.js';

/** Writes the outputs of a run (report/write-report.ts); its page says which tests of its plan the registry knows. */
export async function writeRunReport(
  files: Files,
  directory: string,
  plan: Plan,
  options: Omit<ReportOptions, 'tests'> = {},
): Promise<Summary> {
  return writeReport(files, directory, plan, { tests: await readTests(files, directory, plan), ...options });
}

/** None where the registry is damaged: a report does not depend on it. */
async function readTests(files: Files, directory: string, plan: Plan): Promise<SentTest[]> {
  try {
    const { state } = await readRegistry(files, join(dirname(directory), REGISTRY_FILE));
    return (await listTestsOf(files, { directory, plan }, state)).map(describeTest);
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

function describeTest({ begun, counts }: KnownTest): SentTest {
  return { run: begun.plan, sentAtMs: begun.at, numbers: begun.testOf?.numbers ?? 0, counts };
}
