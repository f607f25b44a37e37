import { sumOf } from '../domain/count-of.js';
import type { HadRows } from '../kinds/row-judge.js';
import type { HadFigures, Plan, PlannedStep } from './format/plan-file.js';
import { isDay } from './occurrence.js';

/** Who had which text by earlier runs, as one step asks it. */
export interface HadLookup extends HadRows {
  /** Adds up all rows that were asked; undefined where none had it. */
  figures(): HadFigures | undefined;
}

/** The memory of people, opened for one plan: one lookup a step. Undefined where it says nothing of any. */
export type OpenPeople = (
  plan: Pick<Plan, 'job' | 'occurrence' | 'retryOf'> & { readonly id?: string },
  jobDirectory: string,
) => Promise<(() => HadLookup) | undefined>;

/** Rows that are held: `had`, as their number had their text, and the job does not say what then; `noZone`, as no time zone is known. */
export type HeldRows = Readonly<Record<'had' | 'noZone', number>>;

interface HoldingRows {
  readonly steps: readonly Pick<PlannedStep, 'had' | 'skips'>[];
  /** Held rows that plans of `volley retry` have: a person has decided. Absent: none. */
  readonly retriedHeld?: HeldRows | undefined;
}

/** Counts the rows that wait for a person. */
export function countHeld({ steps, retriedHeld = { had: 0, noZone: 0 } }: HoldingRows): HeldRows {
  const had = sumOf(steps.map((step) => (step.had?.rule === 'hold' ? countHad(step.had) : 0)));
  const noZone = sumOf(steps.map(({ skips }) => skips['no-time-zone'] ?? 0));
  return { had: Math.max(0, had - retriedHeld.had), noZone: Math.max(0, noZone - retriedHeld.noZone) };
}

export function sumHeld(rows: HoldingRows): number {
  const { had, noZone } = countHeld(rows);
  return had + noZone;
}

export function countHad({ runs }: HadFigures): number {
  return sumOf(runs.map(({ rows }) => rows));
}

/**
 * Whom a job that does not say it sends the same text: no one twice, and no one twice a day where it is of every day, unless files are to be
 * sent again. What it says counts, whatever `repeat` says; `--again` is a word of its own.
 */
export function sameTextRule({
  job,
  occurrence,
  retryOf,
}: Pick<Plan, 'job' | 'occurrence' | 'retryOf'>): HadFigures['rule'] {
  if (retryOf?.only === 'had-it-already' || (occurrence !== '' && job.repeat === 'never')) return 'send';
  return job.sameText ?? (occurrence === '' || isDay(occurrence) ? 'hold' : 'send');
}

/** Whether only what the job sent on the same day counts: what it sends on another one is another message. */
export function countsDayAlone({ job, occurrence }: Pick<Plan, 'job' | 'occurrence'>): boolean {
  return job.sameText === undefined && isDay(occurrence);
}
