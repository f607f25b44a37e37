import type { Cell } from '../../domain/row.js';
import { createRowPlanner } from '../../filter/filter-rows.js';
import type { SampledFile, SampledRows } from '../../guess/sampled-rows.js';
import type { OptOutList } from '../../guess/write-job.js';
import { findColumn } from '../../input/own-columns.js';
import { isRowStep, type Job } from '../../job/job.js';
import type { Preview } from '../../kinds/step-kind.js';
import { acceptNumber } from '../../normalize/number/number.js';

/** The first message of a job's first step, rendered as planning does; undefined where no row of the files gets one. `optOuts`: as far as they were read. */
export function findExample(
  { steps: [step] }: Job,
  files: readonly SampledFile[],
  optOuts: readonly (Pick<OptOutList, 'country' | 'countryColumn'> & { readonly sample: SampledRows })[],
): Preview | undefined {
  if (step === undefined || !isRowStep(step)) return undefined;
  const suppressed = new Set(optOuts.flatMap((list) => listNumbers(list, step.input.country)));
  const planner = createRowPlanner(step, {
    planId: 'init',
    step: 1,
    findColumn,
    findSuppressed: (digits) => (suppressed.has(Number(digits)) ? ON_A_LIST : undefined),
    describeRow: String,
  });
  for (const { columns, rows } of files) {
    const read = planner.bind(columns);
    if (typeof read !== 'function') continue;
    for (const [index, cells] of rows.entries()) {
      const plan = read(aRecord(cells, index + 1), index, 0);
      if (plan.kind === 'planned') return plan.row.preview();
    }
  }
  return undefined;
}

const ON_A_LIST = { code: 'suppressed', reason: 'The number is on an opt-out list' } as const;

/** Whatever may be a number in an opt-out list, as digits of E.164. */
function listNumbers(
  {
    sample: { columns, rows },
    country,
    countryColumn,
  }: Pick<OptOutList, 'country' | 'countryColumn'> & { readonly sample: SampledRows },
  ofInput: string | undefined,
): number[] {
  const at = countryColumn === undefined ? -1 : columns.indexOf(countryColumn);
  return rows.flatMap((cells) => {
    const own = cells[at]?.trim() || country || ofInput;
    return cells.flatMap((cell) => acceptNumber(cell, own)?.e164.slice(1) ?? []).map(Number);
  });
}

function aRecord(cells: readonly Cell[], row: number) {
  return { cells, line: row, row, fault: undefined };
}
