import { isRowKind, KINDS } from '../../domain/areas.js';
import { type Finding, isMapping, valueAt } from '../explain/finding.js';
import { listSteps } from '../explain/written-steps.js';
import { ceilings } from '../limits.js';

const LIMIT_KEYS = ['requestsPerSecond', 'messagesPerSecond', 'segmentsPerSecond', 'concurrency'] as const;

/**
 * A limit at the top holds for every step with rows that has none of its own, so it is checked against the lowest of
 * their ceilings.
 */
export function checkSharedLimits(job: unknown): Finding[] {
  const shared = valueAt(job, ['limits']);
  if (!isMapping(shared)) return [];
  const steps = listSteps(job).filter(({ kind }) => isRowKind(kind));
  return LIMIT_KEYS.flatMap((key) => {
    const limit = shared[key];
    const [lowest] = steps
      .filter(({ step }) => valueAt(step, ['limits', key]) === undefined)
      .map(({ kind }) => ({ kind, ceiling: ceilings[KINDS[kind].area][key] ?? Number.POSITIVE_INFINITY }))
      .toSorted((a, b) => a.ceiling - b.ceiling);
    if (typeof limit !== 'number' || lowest === undefined || limit <= lowest.ceiling) return [];
    return [
      {
        at: ['limits', key],
        message: `limits.${key} is ${limit}, expected at most ${lowest.ceiling} for a step of kind ${lowest.kind}`,
        hint: 'Lower it, or give the step limits of its own.',
      },
    ];
  });
}
