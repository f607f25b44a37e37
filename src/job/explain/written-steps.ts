import { KINDS } from '../../domain/areas.js';
import type { Step } from '../job.js';
import { isMapping, type Path, valueAt } from './finding.js';

/** A step as read: a map of a known kind, otherwise unchecked. */
export interface WrittenStep {
  readonly kind: Step['kind'];
  readonly step: Readonly<Record<string, unknown>>;
  readonly at: Path;
}

/** The steps of a job of any shape, without entries that are not steps. */
export function listSteps(job: unknown): WrittenStep[] {
  const steps = valueAt(job, ['steps']);
  if (!Array.isArray(steps)) return [];
  return steps.flatMap((step: unknown, index) =>
    isMapping(step) && isKind(step.kind) ? [{ kind: step.kind, step, at: ['steps', index] }] : [],
  );
}

function isKind(kind: unknown): kind is Step['kind'] {
  return typeof kind === 'string' && Object.hasOwn(KINDS, kind);
}
