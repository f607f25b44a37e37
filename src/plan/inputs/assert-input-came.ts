import { countOf } from '../../domain/count-of.js';
import { type Problem, UserError } from '../../domain/errors.js';
import type { InputFile } from '../../input/inputs.js';
import { isRowStep } from '../../job/job.js';
import type { Files } from '../../storage/files.js';
import type { StepSelection } from './select-inputs.js';

const HOUR_MS = 3_600_000;

/**
 * Refuses where an export did not come: of a step with `input.required` no file is new, or of one with `input.newerThan` the
 * newest file is older. `isResumed`: the same command has just finished a run, so that what came may be taken already.
 */
export async function assertInputCame(
  files: Pick<Files, 'stat'>,
  steps: readonly StepSelection[],
  { nowMs, isResumed }: { nowMs: number; isResumed?: boolean },
): Promise<void> {
  const problems: Problem[] = [];
  for (const selected of steps) {
    const { step, number, inputs, listed } = selected;
    if (!isRowStep(step)) continue;
    const { required, newerThan } = step.input;
    const where = `step ${number} (${step.kind})`;
    if (required === true && inputs.length === 0 && isResumed !== true) {
      problems.push({ where, message: `no file is new, expected one (input.required): ${describeOmitted(selected)}` });
    }
    const newest = newerThan === undefined ? undefined : await findNewest(files, listed);
    if (newest === undefined || newerThan === undefined || nowMs - newest.modifiedMs <= newerThan) continue;
    const is = `its newest file, ${newest.shown}, is ${Math.floor((nowMs - newest.modifiedMs) / HOUR_MS)} h old`;
    problems.push({ where, message: `${is}, expected ${newerThan / HOUR_MS} h at most (input.newerThan)` });
  }
  const [first] = problems;
  if (first === undefined) return;
  throw new UserError('missing-input', `Cannot plan the job: ${first.where}: ${first.message}`, {
    hint: 'Nothing was sent. Find out why the export did not come; the same command plans it once it is there.',
    problems,
  });
}

function describeOmitted({ leftOut }: StepSelection): string {
  const last = leftOut.at(-1);
  if (last === undefined) return 'there is none';
  const others = leftOut.length - 1;
  return `${last.file} ${last.reason}${others === 0 ? '' : `; ${countOf(others, 'other')} as well`}`;
}

/** By when it was last written. */
async function findNewest(
  files: Pick<Files, 'stat'>,
  listed: readonly InputFile[],
): Promise<{ shown: string; modifiedMs: number } | undefined> {
  let newest: { shown: string; modifiedMs: number } | undefined;
  for (const { path, shown } of listed) {
    const modifiedMs = (await files.stat(path))?.modifiedMs ?? 0;
    if (newest === undefined || modifiedMs > newest.modifiedMs) newest = { shown, modifiedMs };
  }
  return newest;
}
