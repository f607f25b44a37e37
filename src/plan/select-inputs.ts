import { dirname, join } from 'node:path';
import pLimit from 'p-limit';
import { isObject, remember } from '../domain/is-object.js';
import type { InputFile } from '../input/inputs.js';
import { accountOf, isRowStep, type Job, type RowStep, type Step, type SuppressionLists } from '../job/job.js';
import { planIdOf } from '../kinds/ids.js';
import { areasOf } from '../kinds/kinds.js';
import { boundBatch } from '../kinds/sms/sms.js';
import { type DigestedInput, digestFile, nameInput, type PlanDeps, STANDARD_INPUT } from './plan-deps.js';
import type { ProblemList } from './problems.js';
import { digestSuppression, type SuppressionFile } from './suppress/list-suppression.js';

/** The files that a plan will take, by step, and those that it omits. */
export interface Selection {
  readonly steps: readonly StepSelection[];
  /** Where standard input was spooled to; undefined when no step reads it. */
  readonly spool: string | undefined;
}

export interface StepSelection {
  readonly step: Step;
  readonly number: number;
  /** All files that its patterns match. */
  readonly listed: readonly InputFile[];
  /** The files of `listed` that it takes. */
  readonly inputs: readonly DigestedInput[];
  readonly suppression: readonly SuppressionFile[];
  readonly leftOut: readonly LeftOut[];
}

/** A small file is waited for more than it is read, most of all on a network disk. */
const READ_AT_ONCE = 16;

/** Part of the plan id, and independent of the format of plan.json. */
const ID_FORMAT = 3;

export interface LeftOut {
  readonly file: string;
  readonly reason: string;
  /** The run that has sent it, or its rows; absent where none has. */
  readonly run?: string | undefined;
  /**
   * Where rows of the file were not sent, or not yet: the run or plan that has them, and what sends them, or takes them back. `isAsPlanned`: the job
   * has other steps by now, so that they are sent as they were planned alone.
   */
  readonly rest?: { readonly directory: string; readonly next: RestStep; readonly isAsPlanned?: boolean };
}

/**
 * `cancelled`, `filtered`, `had-it-already`, `no-time-zone`, `not-sent` and `unprocessed` are rows to retry, `apply` a plan of them, `resume` a run that is not at its end, `cancel` one
 * whose messages wait at the service.
 */
export type RestStep =
  | 'cancel'
  | 'cancelled'
  | 'filtered'
  | 'had-it-already'
  | 'no-time-zone'
  | 'not-sent'
  | 'unprocessed'
  | 'apply'
  | 'resume';

/** The run of this job that already took a file with this content for a step of this kind, if there is one: at the time of the plan, or at any. */
export type FindTaken = (kind: string, sha256: string, isOfAnyTime?: boolean) => string | undefined;

/**
 * Reads every file once for its digest, and omits files that the job already took (a file is sent once per job). Files
 * are known by content: a copy under another name is the same file, and so is one that was packed.
 */
export async function selectInputs(
  job: Job,
  deps: PlanDeps,
  options: { jobDirectory: string; findTaken: FindTaken; problems: ProblemList },
): Promise<Selection> {
  const digests = new Map<string, Promise<Omit<DigestedInput, 'file'>>>();
  const digest = (path: string) => remember(digests, path, () => digestFile(path, deps));
  const inTurn = pLimit(READ_AT_ONCE);
  const spool = job.steps.some(readsStandardInput)
    ? join(options.jobDirectory, `.stdin-${deps.processId}.part`)
    : undefined;
  if (spool !== undefined) await deps.reader.spoolStandardInput(spool);

  const spooled = ({ files, format }: Pick<SuppressionLists, 'files' | 'format'>): InputFile[] =>
    spool !== undefined && files.includes('-') ? [{ path: spool, shown: STANDARD_INPUT, format: format ?? 'csv' }] : [];
  const list = async ({ input }: RowStep, onEmptyPattern: (shown: string) => void) => {
    const { format, sheet } = input;
    const named = input.files.filter((pattern) => pattern !== '-');
    const found = named.length === 0 ? [] : await deps.reader.listInputs(named, job.directory, onEmptyPattern);
    const files = [...found.map((file) => ({ ...file, format: format ?? file.format })), ...spooled(input)];
    const digested = files.map(async (file) => nameInput(file, await inTurn(() => digest(file.path)), sheet));
    // Where several cannot be read, the first is named.
    await Promise.allSettled(digested);
    return Promise.all(digested);
  };

  const steps: StepSelection[] = [];
  for (const [index, step] of job.steps.entries()) {
    if (!isRowStep(step)) {
      steps.push({ step, number: index + 1, listed: [], inputs: [], suppression: [], leftOut: [] });
      continue;
    }
    const where = `steps[${index}]`;
    // An inbox may be empty. A suppression list may not.
    const empty: LeftOut[] = [];
    const listed = await options.problems.gather(where, () =>
      list(step, (shown) => empty.push({ file: shown, reason: 'matches no file' })),
    );
    const suppression = await digestSuppression(step, job.directory, {
      ...{ where, deps, digest, problems: options.problems, standardInput: spooled },
    });
    const { inputs, leftOut } = leaveOut(step, listed ?? [], options.findTaken);
    const files = (listed ?? []).map(({ file }) => file);
    const omitted = [...empty, ...leftOut];
    steps.push({ step, number: index + 1, listed: files, inputs, suppression, leftOut: omitted });
  }
  return { steps, spool };
}

/** Whether a step reads standard input, as its file or as one of its suppression lists. */
export function readsStandardInput(step: Step): boolean {
  if (!isRowStep(step)) return false;
  return [step.input, ...(step.suppress ?? [])].some(({ files }) => files.includes('-'));
}

function leaveOut(
  { kind, input: { whenDone } }: RowStep,
  listed: readonly DigestedInput[],
  findTaken: FindTaken,
): { inputs: DigestedInput[]; leftOut: LeftOut[] } {
  const inputs: DigestedInput[] = [];
  const leftOut: LeftOut[] = [];
  const seen = new Map<string, string>();
  for (const input of listed) {
    const { shown, path } = input.file;
    const twin = seen.get(input.contentSha256);
    // A pattern such as inbox/** matches what was moved once more, and a job that is repeated would send it each day.
    const run = findTaken(kind, input.contentSha256, dirname(path) === whenDone?.moveTo);
    if (twin !== undefined) leftOut.push({ file: shown, reason: `has the same content as ${twin}` });
    else if (run !== undefined) leftOut.push({ file: shown, reason: `was already sent by run ${run}`, run });
    else inputs.push(input);
    if (input.bytes > 0) seen.set(input.contentSha256, twin ?? shown);
  }
  return { inputs, leftOut };
}

/**
 * The plan's id: a digest of what determines the requests. Guards, credentials, output, the directory of the job, and
 * limits where they bound no request are not in it; the account is, as the requests name it.
 */
export function identifyPlan(job: Job, selection: Selection, occurrence: string): string {
  const accounts = areasOf(job.steps).map((area) => [area, accountOf(job.service, area)]);
  const steps = selection.steps.map(({ step, inputs, suppression }) => {
    if (!isRowStep(step)) {
      const { limits: _limits, ...content } = step;
      return content;
    }
    const { input, limits: _limits, ...content } = step;
    const {
      files: _files,
      limits: _readLimits,
      required: _required,
      newerThan: _newerThan,
      whenDone: _whenDone,
      ...reading
    } = input;
    const { suppress, ...rest } = { suppress: undefined, ...content, ...orderOfUser(step) };
    const suppressReading = suppress?.map((lists) => ({ ...lists, files: undefined, limits: undefined }));
    const known = (list: readonly DigestedInput[]) => list.map(({ file, sha256 }) => [file.shown, sha256]);
    const bounds = step.kind === 'sms' ? boundBatch(step) : undefined;
    // Columns and operators of `where` are keys, too.
    const where = reading.where?.map((conditions) =>
      sortByText(conditions.map((condition) => ({ ...condition, tests: sortByText(condition.tests) }))),
    );
    return {
      ...rest,
      bounds,
      reading: { ...reading, where },
      suppressReading,
      inputs: known(inputs),
      suppression: known(suppression),
    };
  });
  return planIdOf(textOf({ format: ID_FORMAT, name: job.name, occurrence, accounts, steps }));
}

/** Writes a value with its keys sorted: the order in which they are written means nothing. */
function textOf(value: unknown): string {
  const sorted = (_key: string, inner: unknown) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner;
  return JSON.stringify(value, sorted);
}

function sortByText<T>(items: readonly T[]): T[] {
  return items.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
}

/** What is sent of a customer has these keys in their order. */
function orderOfUser(step: Step): object {
  if (step.kind !== 'conversations' || typeof step.user === 'string') return {};
  return { user: { ...step.user, additionalProperties: Object.entries(step.user.additionalProperties) } };
}
