import type { HadRows } from '../kinds/step-kind.js';
import type { HadFigures, Plan, PlannedStep } from './format/plan-file.js';

/** Who had which text by earlier runs, as one step asks it. */
export interface HadLookup extends HadRows {
  /** Of all that were asked; undefined where none had it. */
  figures(): HadFigures | undefined;
}

/** The memory of people, opened for one plan: one lookup a step. Undefined where it says nothing of any. */
export type OpenPeople = (
  plan: Pick<Plan, 'job' | 'occurrence' | 'retryOf'> & { readonly id?: string },
  jobDirectory: string,
) => Promise<(() => HadLookup) | undefined>;

/** Rows that are held: their number had their text, and the job does not say what then. */
export function countHeld({ steps }: { readonly steps: readonly Pick<PlannedStep, 'had'>[] }): number {
  return steps.reduce((sum, { had }) => sum + (had?.rule === 'hold' ? countHad(had) : 0), 0);
}

export function countHad({ runs }: HadFigures): number {
  return runs.reduce((sum, { rows }) => sum + rows, 0);
}

/** Whom a job that does not say it sends the same text: no one twice, unless a file is to be sent again. */
export function sameTextRule({
  job,
  occurrence,
  retryOf,
}: Pick<Plan, 'job' | 'occurrence' | 'retryOf'>): HadFigures['rule'] {
  return occurrence !== '' || retryOf?.only === 'had-it-already' ? 'send' : (job.sameText ?? 'hold');
}
