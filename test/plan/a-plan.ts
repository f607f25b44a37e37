import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { UserError } from '../../src/domain/errors.js';
import { listInputs } from '../../src/input/inputs.js';
import { readRecords } from '../../src/input/read-records.js';
import { digestContent, digestInput } from '../../src/input/text/byte-source.js';
import {
  type ContactsStep,
  type Input,
  isRowStep,
  type Job,
  type JobService,
  type SmsStep,
  type SmsTemplate,
} from '../../src/job/job.js';
import type { Limits } from '../../src/job/limits.js';
import { DEFAULT_READ_LIMITS } from '../../src/job/schema/written-input.js';
import {
  decodeRequestLine,
  type Plan,
  type PlannedStep,
  type RequestHead,
  requestsFile,
  rowsFile,
} from '../../src/plan/format/plan-file.js';
import { decodeRowLine, type RowLine } from '../../src/plan/format/row-line.js';
import { RunDirectories } from '../../src/plan/format/run-directories.js';
import { makePlan, type PlanOutcome } from '../../src/plan/make-plan.js';
import type { InputReader } from '../../src/plan/plan-deps.js';
import type { RowOwners } from '../../src/plan/reimport/reimported-rows.js';
import type { FindTaken } from '../../src/plan/select-inputs.js';
import { closeAfterFile } from '../e2e/opened.js';
import { aMemoryDisk, type MemoryDisk } from '../storage/a-memory-disk.js';

/** No other plan has a row. */
export const NO_OWNERS: RowOwners = {
  findDigest: () => undefined,
  find: async () => ({ digest: undefined, refusal: undefined }),
  refuseTwin: () => undefined,
};

export function someLimits(changes: Partial<Limits> = {}): Limits {
  return {
    requestsPerSecond: 50,
    messagesPerSecond: undefined,
    segmentsPerSecond: undefined,
    concurrency: 4,
    ...changes,
  };
}

export function anInput(changes: Partial<Input> = {}): Input {
  const files = changes.files ?? ['people.csv'];
  return { country: 'SG', limits: DEFAULT_READ_LIMITS, ...changes, files };
}

export function aTemplate(changes: Partial<SmsTemplate> = {}): SmsTemplate {
  return { text: 'Hello', encoding: 'AUTO', smartReplace: false, ...changes };
}

/** `text` goes into the template. */
export function anSmsStep({ text, ...changes }: Partial<SmsStep> & { text?: string } = {}): SmsStep {
  return {
    kind: 'sms',
    input: anInput(),
    destination: 'mobile',
    template: aTemplate(text === undefined ? {} : { text }),
    batchSize: 1000,
    duplicates: 'skip',
    limits: someLimits(),
    ...changes,
  };
}

export function aContactsStep(changes: Partial<ContactsStep> = {}): ContactsStep {
  const fields = { msisdn: 'mobile' };
  return {
    kind: 'contacts',
    input: anInput(),
    fields,
    customAttributes: {},
    groups: [],
    limits: someLimits(),
    ...changes,
  };
}

export function aService(changes: Partial<JobService> = {}): JobService {
  return {
    sandbox: false,
    account: 'acme',
    subAccountId: 'acme_hq',
    bases: {
      sms: 'https://sms.test',
      contacts: 'https://contacts.test',
      verification: 'https://verify.test',
      gateway: 'https://gateway.test',
      campaign: 'https://campaign.test',
      chat: 'https://chat.test',
    },
    credentials: { sms: { apiKey: { env: 'VOLLEY_API_KEY' } } },
    timeouts: { connectSeconds: 10, answerSeconds: 60 },
    giveUpAfterSeconds: 900,
    trustUnavailable: false,
    ...changes,
  };
}

export function aJob(changes: Partial<Job> = {}): Job {
  return {
    name: 'sale',
    service: aService(),
    steps: [anSmsStep()],
    guards: { maxFailedPercent: 100, requireTest: false },
    failOn: 'rejections',
    repeat: 'never',
    sameTextWithin: 14 * 86_400_000,
    output: { directory: '/out', format: 'csv' },
    directory: '/jobs',
    ...changes,
  };
}

/** A folder of its own with files, by name, gone after the test file; a text goes in as UTF-8. */
export function aFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const directory = mkdtempSync(join(tmpdir(), 'volley-plan-'));
  closeAfterFile({ close: async () => rmSync(directory, { recursive: true, force: true }) });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  return directory;
}

/** Singapore numbers that are valid, one for each count from 0. */
export function aNumber(index: number): string {
  return `+65${90_000_000 + index}`;
}

/** `mobile,…` with a row for each of so many numbers. */
export function aCsvOf(count: number, from = 0): string {
  return `mobile,name\n${Array.from({ length: count }, (_, index) => `${aNumber(from + index)},n${from + index}\n`).join('')}`;
}

export interface PlanOptions {
  readonly job?: Partial<Job>;
  /** Name → content, in the folder of the job; or the folder itself. */
  readonly files?: Record<string, string | Uint8Array> | string;
  readonly disk?: MemoryDisk;
  readonly jobDirectory?: string;
  readonly occurrence?: string;
  readonly findTaken?: FindTaken;
  readonly reader?: Partial<InputReader>;
  readonly signal?: AbortSignal;
  readonly owners?: RowOwners;
  readonly assertHeld?: () => Promise<void>;
  readonly nowMs?: number;
}

/** Plans a job whose steps name files of its folder; the plan goes to a disk in memory, below `/out/sale`. */
export async function makeAPlan(options: PlanOptions = {}): Promise<PlanOutcome & { disk: MemoryDisk; job: Job }> {
  const { files = { 'people.csv': aCsvOf(3) }, disk = aMemoryDisk(), jobDirectory = '/out/sale' } = options;
  const directory = typeof files === 'string' ? files : aFolder(files);
  const written = aJob({ ...options.job, directory });
  const place = (input: Input): Input => ({
    ...input,
    files: input.files.map((name) => (name === '-' ? name : join(directory, name))),
  });
  const steps = written.steps.map((step) => {
    if (!isRowStep(step)) return step;
    const placed = { ...step, input: place(step.input) };
    return placed.kind === 'sms' && placed.suppress !== undefined
      ? { ...placed, suppress: placed.suppress.map(place) }
      : placed;
  });
  const { prices } = written;
  const job = { ...written, steps, ...(prices && { prices: { ...prices, input: place(prices.input) } }) };
  const reader: InputReader = {
    ...{ listInputs, digestInput, digestContent, readRecords },
    spoolStandardInput: async () => {
      throw new Error('the test has no standard input');
    },
    ...options.reader,
  };
  const outcome = await makePlan(
    job,
    {
      files: disk.files,
      reader,
      processId: 7,
      plannedBy: 'ann',
      onProgress: () => {},
      signal: options.signal ?? new AbortController().signal,
    },
    {
      directories: await RunDirectories.read(disk.files, jobDirectory),
      occurrence: options.occurrence ?? '',
      findTaken: options.findTaken ?? (() => undefined),
      ownersFor: () => options.owners ?? NO_OWNERS,
      assertHeld: options.assertHeld ?? (async () => {}),
      nowMs: options.nowMs ?? Date.UTC(2026, 11, 28),
    },
  );
  return { ...outcome, disk, job };
}

export interface MadePlan {
  readonly plan: Plan;
  readonly directory: string;
  readonly disk: MemoryDisk;
  readonly job: Job;
  /** The first step, what it plans to send, and what became of each row. */
  readonly step: PlannedStep;
  readonly requests: readonly PlannedRequest[];
  readonly rows: readonly RowLine[];
}

export async function aPlan(options: PlanOptions = {}): Promise<MadePlan> {
  const { made, disk, job } = await makeAPlan(options);
  if (made === undefined) throw new Error('there was nothing to plan');
  const { plan, directory } = made;
  const step = plan.steps[0]!;
  return {
    plan,
    directory,
    disk,
    job,
    step,
    requests: readRequests(disk, directory, step),
    rows: readRows(disk, directory, step),
  };
}

/** Messages to so many people: `batchSize` of them in a request, and one request in flight at a time. */
export function aPlanOfBatches(
  people: number,
  { batchSize = 2, concurrency = 1, ...options }: { batchSize?: number; concurrency?: number } & PlanOptions = {},
): Promise<MadePlan> {
  const steps = [anSmsStep({ batchSize, limits: someLimits({ concurrency }) })];
  return aPlan({ files: { 'people.csv': aCsvOf(people) }, ...options, job: { steps, ...options.job } });
}

export interface PlannedRequest extends RequestHead {
  readonly text: string;
  /** The body as JSON. */
  readonly json: {
    readonly clientBatchId: string;
    readonly template: object;
    readonly messages: readonly { clientMessageId: string }[];
  };
}

export function readRequests(disk: MemoryDisk, directory: string, step: PlannedStep): PlannedRequest[] {
  return linesOf(disk.readText(requestsFile(directory, step))).map((line) => {
    const { body, ...head } = decodeRequestLine(Buffer.from(line), 'requests');
    return { ...head, text: body.toString(), json: JSON.parse(body.toString()) };
  });
}

export function readRows(disk: MemoryDisk, directory: string, step: PlannedStep): RowLine[] {
  return linesOf(disk.readText(rowsFile(directory, step))).map((line) => decodeRowLine(line, 'rows'));
}

export function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

/** `planned`, or the code of the rejection or skip, for each row of the first step. */
export function statesOf(rows: readonly RowLine[]): string[] {
  return rows.map((row) =>
    row.state === 'planned' ? 'planned' : row.state === 'rejected' ? row.rejection.code : row.skip.code,
  );
}

/** What the plan is refused for, each as `where: message`; a plan that is made is an error here. */
export async function refusalOf(options: PlanOptions): Promise<{ problems: string[]; error: UserError }> {
  const error = await makeAPlan(options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof UserError)) throw new Error(`expected a refusal, got ${String(error)}`);
  return { problems: error.problems.map(({ where, message }) => `${where}: ${message}`), error };
}
