import { UserError } from '../domain/errors.js';
import type { RecordReader } from '../input/record-reader.js';
import { isRowStep, type Job } from '../job/job.js';
import { decodeRequestLine, type PlanAt, type PlannedStep } from '../plan/format/plan-file.js';
import { readRequests, readRows } from '../plan/format/planned-files.js';
import { decodeRowLine } from '../plan/format/row-line.js';
import { createCostTally, loadPrices } from '../plan/load-prices.js';
import type { PlanDeps } from '../plan/plan-deps.js';
import { planStep } from '../plan/plan-step.js';
import { ProblemList } from '../plan/problems.js';
import { readsStandardInput, selectInputs } from '../plan/select-inputs.js';
import type { Files, WholeFile } from '../storage/files.js';
import { type ChosenRows, createRowChooser, joinPreviewedRows, type PreviewedRow } from './choose-rows.js';

/** Stands in the ids of messages, which are not shown. */
const PLAN_ID = 'preview00000';

/**
 * Plans a job as `volley plan` does, as far as the chosen rows need it, and keeps those alone: nothing is written. Files that
 * the job has sent are planned as well.
 */
export async function previewJob(
  job: Job,
  deps: PlanDeps,
  { choice, count, only, task = 'preview the job' }: ChosenRows & { readonly task?: string },
): Promise<PreviewedStep[]> {
  if (job.steps.some(readsStandardInput)) {
    throw new UserError('bad-input', `Cannot ${task}: it reads standard input, expected files`, {
      hint: 'Plan it with volley plan, and give the run that it prints.',
    });
  }
  const problems = new ProblemList(task);
  const selection = await selectInputs(job, deps, { jobDirectory: '', findTaken: () => undefined, problems });
  const prices = await loadPrices(job, { deps, problems });
  const steps: PreviewedStep[] = [];
  for (const step of selection.steps) {
    if (step.inputs.length === 0 || (only !== undefined && step.step.kind !== only)) continue;
    const chooser = createRowChooser(choice, count);
    const enough = new AbortController();
    const joined = joinPreviewedRows(step.step.kind, (row) => {
      chooser.see(row);
      if (chooser.isDone) enough.abort();
    });
    const createWhole = async (path: string) =>
      path.endsWith('.requests.ndjson')
        ? createSink((line) => joined.addRequest(decodeRequestLine(line, path).body))
        : createSink((line) => joined.addRow(decodeRowLine(line.toString('utf8'), path)));
    const signal = AbortSignal.any([deps.signal, enough.signal]);
    const readers = new Map<string, RecordReader>();
    const readRecords: PlanDeps['reader']['readRecords'] = (file, input) => {
      const records = deps.reader.readRecords(file, input);
      readers.set(file.path, records);
      return records;
    };
    const inMemory = {
      ...deps,
      signal,
      files: { ...deps.files, createWhole },
      reader: { ...deps.reader, readRecords },
    };
    const costs = prices && isRowStep(step.step) ? createCostTally(step.step, prices.list) : undefined;
    try {
      await planStep(step, { planId: PLAN_ID, directory: '', deps: inMemory, problems, costs });
    } catch (error) {
      if (!enough.signal.aborted) throw error;
    }
    const inputs = step.inputs.map(({ file }) => ({
      file: file.shown,
      columns: readers.get(file.path)?.columns ?? [],
    }));
    const rows = priceRows(chooser.rows, costs?.figures().groups);
    steps.push({ number: step.number, inputs, rows, seen: chooser.seen });
  }
  problems.throwIfAny();
  return steps;
}

/** A file of which the lines are seen and nothing is kept. */
function createSink(onLine: (line: Buffer) => void): WholeFile {
  let rest = Buffer.alloc(0);
  return {
    write: async (chunk) => {
      const bytes = Buffer.concat([rest, Buffer.from(chunk as Uint8Array)]);
      let from = 0;
      for (let at = bytes.indexOf('\n'); at !== -1; at = bytes.indexOf('\n', from)) {
        onLine(bytes.subarray(from, at));
        from = at + 1;
      }
      rest = bytes.subarray(from);
    },
    finish: async () => {},
    discard: async () => {},
  };
}

/** The rows of one step that are shown. */
export interface PreviewedStep {
  readonly number: number;
  /** By which rows name their file, and the names of their cells. */
  readonly inputs: readonly { readonly file: string; readonly columns: readonly string[] }[];
  readonly rows: readonly PreviewedRow[];
  /** Rows that were looked at. */
  readonly seen: number;
}

/** Reads chosen rows of a plan from the bytes that are sent. */
export async function previewRun(
  files: Files,
  { directory, plan }: PlanAt,
  { choice, count, only }: ChosenRows,
): Promise<PreviewedStep[]> {
  const steps: PreviewedStep[] = [];
  for (const step of plan.steps) {
    if (step.counts.read === 0 || (only !== undefined && step.kind !== only)) continue;
    const chooser = createRowChooser(choice, count);
    const rows = joinPreviewedRows(step.kind, (row) => chooser.see(row));
    const requests = readRequests(files, directory, step);
    try {
      for await (const row of readRows(files, directory, step)) {
        rows.addRow(row);
        while (rows.needsRequest) {
          const next = await requests.next();
          if (next.done === true) break;
          rows.addRequest(next.value.body);
        }
        if (chooser.isDone) break;
      }
    } finally {
      await requests.return(undefined);
    }
    const shown = priceRows(chooser.rows, step.cost?.groups);
    steps.push({ number: step.number, inputs: step.inputs, rows: shown, seen: chooser.seen });
  }
  return steps;
}

/** The rows with what they cost, by the groups of the step's cost. */
function priceRows(
  rows: readonly PreviewedRow[],
  groups: NonNullable<PlannedStep['cost']>['groups'] = [],
): PreviewedRow[] {
  return rows.map((each) => {
    const { row } = each;
    if (row.state !== 'planned' || row.costGroup === undefined) return each;
    return { ...each, price: groups[row.costGroup]?.rowCost ?? null };
  });
}
