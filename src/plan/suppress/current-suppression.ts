import { UserError } from '../../domain/errors.js';
import type { Step } from '../../job/job.js';
import { digestFile, type SuppressionFile } from '../inputs/select-inputs.js';
import type { PlanDeps } from '../plan-deps.js';
import type { ProblemList } from '../problems.js';

/** The suppression lists of a step as they are now; those that its plan was made with may be older. */
export async function listCurrentSuppression(
  step: Step,
  directory: string,
  { deps, problems }: { deps: PlanDeps; problems: ProblemList },
): Promise<SuppressionFile[]> {
  if (step.kind !== 'sms') return [];
  const digested: SuppressionFile[] = [];
  for (const lists of step.suppress ?? []) {
    const { files: patterns, format } = lists;
    await problems.gather('suppress', async () => {
      if (patterns.includes('-')) {
        throw new UserError('bad-input', 'the suppression list came by standard input, expected a file', {
          hint: 'Name the list as a file in the job, and give that with --job; or re-import the rows with the list.',
        });
      }
      for (const file of await deps.reader.listInputs(patterns, directory)) {
        const read = format === undefined ? file : { ...file, format };
        digested.push({ file: read, ...(await digestFile(file.path, deps)), lists });
      }
    });
  }
  return digested;
}
