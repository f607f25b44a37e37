import { relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../domain/is-object.js';
import { isRowStep, type Job, type Step } from './job.js';

/** As it is in plan.json. */
function plainOf(value: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value));
}

/** Of whom it is sent to, how fast, and in which stages it says nothing. */
const ASIDE = ['input', 'suppress', 'limits', 'batchSize', 'ramp'];

function contentOf(step: Step): Record<string, unknown> {
  return Object.fromEntries(Object.entries(plainOf(step)).filter(([key]) => !ASIDE.includes(key)));
}

function filesOf(step: Step, { directory }: Job): string[] {
  return isRowStep(step) ? step.input.files.map((path) => relative(directory, path)) : [];
}

/**
 * Which step of a job a planned one is by now, as steps are put in, taken out and swapped: one that sends the same, of the same files if there is
 * one, in the same place if there are several. Undefined where none does.
 */
export function findSameStep(planned: Job, index: number, job: Job): number | undefined {
  const step = planned.steps[index];
  if (step === undefined) return undefined;
  const same = [...job.steps.keys()].filter((at) =>
    isDeepStrictEqual(contentOf(job.steps[at] as Step), contentOf(step)),
  );
  const files = filesOf(step, planned);
  const ofFiles = same.filter((at) => isDeepStrictEqual(filesOf(job.steps[at] as Step, job), files));
  const found = ofFiles.length > 0 ? ofFiles : same;
  return found.includes(index) ? index : found[0];
}

/** What a planned step says otherwise than that of its place among those of its kind: `template.text`. Empty where a step of the job sends the same. */
export function listChangedKeys(planned: Job, index: number, job: Job): string[] {
  const step = planned.steps[index];
  if (step === undefined || findSameStep(planned, index, job) !== undefined) return [];
  const place = planned.steps.slice(0, index).filter(({ kind }) => kind === step.kind).length;
  const now = job.steps.filter(({ kind }) => kind === step.kind)[place];
  return now === undefined ? [] : compare(contentOf(step), contentOf(now));
}

function compare(one: Record<string, unknown>, other: Record<string, unknown>, path = ''): string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) => {
    const [a, b] = [one[key], other[key]];
    if (isDeepStrictEqual(a, b)) return [];
    return isObject(a) && isObject(b) ? compare(a, b, `${path}${key}.`) : [`${path}${key}`];
  });
}
