import { relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../domain/is-object.js';
import { isRowStep, type Job, type Step } from './job.js';

/** A value as it is in plan.json. */
function plainOf(value: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value));
}

/** Keys that do not change what a step sends: to whom, how fast, and in which stages. */
const ASIDE = ['input', 'suppress', 'limits', 'batchSize', 'ramp'];

function contentOf(step: Step): Record<string, unknown> {
  return Object.fromEntries(Object.entries(plainOf(step)).filter(([key]) => !ASIDE.includes(key)));
}

function filesOf(step: Step, { directory }: Job): string[] {
  return isRowStep(step) ? step.input.files.map((path) => relative(directory, path)) : [];
}

/** Where a planned step stands in a job by now; `isSame`: it sends what it did. */
export interface StepNow {
  readonly at: number;
  readonly isSame: boolean;
}

/**
 * Which steps of a job those that were planned are by now, as steps are put in, taken out, swapped and changed: each is one that sends the same,
 * of the same files if there is one, in the same place if there are several; else one of its kind that is none of these, in the same place if that is
 * one. Undefined where none is left.
 */
export function matchSteps(planned: Job, job: Job): readonly (StepNow | undefined)[] {
  const left = new Set(job.steps.keys());
  const found = planned.steps.map((step, index) => {
    const same = [...left].filter((at) => isDeepStrictEqual(contentOf(job.steps[at] as Step), contentOf(step)));
    const files = filesOf(step, planned);
    const ofFiles = same.filter((at) => isDeepStrictEqual(filesOf(job.steps[at] as Step, job), files));
    return take(left, ofFiles.length > 0 ? ofFiles : same, index);
  });
  return planned.steps.map(({ kind }, index) => {
    const same = found[index];
    if (same !== undefined) return { at: same, isSame: true };
    const changed = take(
      left,
      [...left].filter((at) => job.steps[at]?.kind === kind),
      index,
    );
    return changed === undefined ? undefined : { at: changed, isSame: false };
  });
}

function take(left: Set<number>, candidates: readonly number[], index: number): number | undefined {
  const at = candidates.includes(index) ? index : candidates[0];
  if (at !== undefined) left.delete(at);
  return at;
}

/** What a planned step says otherwise than the one that it is by now: `template.text`. */
export function listChangedKeys(planned: Job, index: number, job: Job): string[] {
  const now = matchSteps(planned, job)[index];
  if (now === undefined || now.isSame) return [];
  return compare(contentOf(planned.steps[index] as Step), contentOf(job.steps[now.at] as Step));
}

function compare(one: Record<string, unknown>, other: Record<string, unknown>, path = ''): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) => {
    const [a, b] = [one[key], other[key]];
    if (isDeepStrictEqual(a, b)) return [];
    return isObject(a) && isObject(b) ? compare(a, b, `${path}${key}.`) : [`${path}${key}`];
  });
}
