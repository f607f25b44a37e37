import type { Cell } from '../../domain/row.js';
import { createRowPlanner } from '../../filter/filter-rows.js';
import type { SampledFile } from '../../guess/sampled-rows.js';
import { findColumn } from '../../input/own-columns.js';
import { isRowStep, type Job } from '../../job/job.js';
import type { Preview } from '../../kinds/step-kind.js';

/** The first message of a job's first step, rendered as planning does; undefined where no row of the files gets one. */
export function findExample({ steps: [step] }: Job, files: readonly SampledFile[]): Preview | undefined {
  if (step === undefined || !isRowStep(step)) return undefined;
  const planner = createRowPlanner(step, {
    planId: 'init',
    step: 1,
    findColumn,
    findSuppressed: () => undefined,
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

function aRecord(cells: readonly Cell[], row: number) {
  return { cells, line: row, row, fault: undefined };
}
