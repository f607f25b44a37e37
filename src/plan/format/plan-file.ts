import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { sumOf } from '../../domain/count-of.js';
import { UserError } from '../../domain/errors.js';
import { PROGRAM } from '../../domain/program.js';
import type { LeftOutCode } from '../../domain/row-codes.js';
import type { CellCount } from '../../filter/filter-tally.js';
import type { Job } from '../../job/job.js';
import type { PlannedPrices, StepCost } from '../../prices/cost-tally.js';
import type { Files } from '../../storage/files.js';
import type { Reason } from '../reasons.js';
import { planDamaged, readSealed, sealJson, sha256Of } from './sealed-json.js';

/**
 * The plan on disk, format 1; another is refused by name. In the run directory, for step n of kind k:
 *
 *   plan.json               this interface `Plan`, with its own digest at its end (sealed-json.ts), whatever else later formats change
 *   <n>-<k>.requests.ndjson one line a request, in the order of sending; `body` is byte for byte what is posted:
 *                           {"request":1,"first":0,"rows":1000,"messages":1000,"segments":1200,"crc":"…","body":{…}}
 *                           `crc` is the CRC-32, in 8 hex digits, of what stands before it and of the body
 *   <n>-<k>.rows.ndjson     one line a row of the input: [state, file, line, row, about, cells]
 *                           state p (planned; about: [request, facts…]), r (rejected; about: [stage, field, code, reason])
 *                           or s (skipped; about: [code, reason]); of a step with `cost` a number behind the facts is the row's group there; file is an index into the step's inputs; a row that is
 *                           one of another run has its id there (kinds/ids.ts) as one more element, save where it is skipped for another reason than `where`. In the order of the input, but for planned rows
 *                           with hours or stages: these stand where their requests do
 *
 * Length and SHA-256 of both stand in plan.json. Where there is a plan.json, all of the plan is written and synced; then nothing of it changes, but the last two are packed (planned-files.ts)
 * once their run is finished.
 */
export const PLAN_FORMAT: number = PROGRAM.formats.plan;
export const PLAN_FILE = 'plan.json';
/** Created when the plan is first applied. */
export const JOURNAL_FILE = 'journal.ndjson';
/** What the job remembers of a plan or a run (run-record.ts). */
export const RUN_FILE = 'run.json';
/** Events that `volley listen --receipts` received for a run. */
export const RECEIPTS_FILE = 'receipts.ndjson';

export interface Plan {
  readonly format: number;
  readonly id: string;
  /** Distinguishes repeated plans for the same files: '' the first, a date (`repeat: per-day`) or `again-<n>`. */
  readonly occurrence: string;
  /** Who planned it: the user of the machine, or VOLLEY_ACTOR. */
  readonly plannedBy: string;
  readonly job: Job;
  readonly steps: readonly PlannedStep[];
  /** The run whose rows it retries, and which of them; it may be sent only after the memory records the claim. */
  readonly retryOf?: RetryOf;
  /** What a test tests: rows of a job or of its plan, for own numbers. It takes no file and claims no row. */
  readonly testOf?: TestOf;
  /** Absent where the job has no prices. */
  readonly prices?: PlannedPrices;
}

/** A plan, or its run, and the directory that it is in. */
export interface PlanAt {
  readonly directory: string;
  readonly plan: Plan;
}

export interface TestOf {
  /** Id of the plan that is tested, and the SHA-256 of its plan.json; null where a job file is. */
  readonly plan: string | null;
  readonly planSha256: string | null;
  /** How many numbers it goes to. */
  readonly numbers: number;
}

export interface RetryOf {
  /** Id of its plan. */
  readonly run: string;
  readonly only: 'rejected' | 'unprocessed' | 'not-sent' | LeftOutCode;
  /** Only rejected rows with these codes; all rejected rows where there is none. */
  readonly codes: readonly string[];
}

export interface PlannedStep {
  readonly number: number;
  readonly kind: string;
  readonly inputs: readonly PlannedInput[];
  /** The original columns of the step's outputs: those of its inputs, joined. */
  readonly columns: readonly string[];
  readonly suppression: readonly SuppressionInput[];
  /** Rows whose number had their text already; absent where there is none. */
  readonly had?: HadFigures | undefined;
  readonly counts: StepCounts;
  readonly rejections: Readonly<Record<string, number>>;
  readonly skips: Readonly<Record<string, number>>;
  /** From the rows read to those that are sent; absent for a step without rows. */
  readonly funnel?: readonly FunnelStage[];
  /** The commonest of the rejections, each with a row; shown to people only. Absent for a step without rows. */
  readonly reasons?: readonly Reason[];
  /** Messages by country of the number, ISO alpha-2. */
  readonly countries: Readonly<Record<string, number>>;
  /** Messages by each character that forces UCS-2, which makes their parts less than half as long; a message may have several. */
  readonly ucs2: Readonly<Record<string, number>>;
  /** SMS parts that UCS-2 adds to those that as many characters would take in GSM-7; absent where it adds none. */
  readonly ucs2Parts?: number;
  /** Messages by the character that `smartReplace` replaced in them; absent where it replaced none. */
  readonly replaced?: Readonly<Record<string, number>>;
  /** Absent where its rows have no prices. */
  readonly cost?: StepCost;
  /** The hours of its messages; absent without a window. */
  readonly hours?: PlannedHours;
  /** How many rows each stage sends; absent where it sends all at once. */
  readonly stages?: readonly number[] | undefined;
  readonly examples: readonly { readonly to: string; readonly text: string }[];
  /** Least time that the limits allow. */
  readonly estimateSeconds: number;
  /** Absent for a step without rows. */
  readonly files?: StepFiles;
}

/** Rows whose number had exactly their text before, by the run that they had it from, and what was done with them. */
export interface HadFigures {
  readonly rule: 'hold' | 'skip' | 'send';
  /** `at`: when the run last sent. */
  readonly runs: readonly { readonly run: string; readonly job: string; readonly at: string; readonly rows: number }[];
  /** Planned rows whose number had another text from the same job within `sameTextWithin`, as of a person whose name was corrected, and when the last did. */
  readonly otherText?: { readonly rows: number; readonly at: string };
}

interface PlannedHours {
  /** Messages by group: a country, or a time zone. */
  readonly groups: Readonly<Record<string, number>>;
  /** Version of the time zone data that the plan was made with. */
  readonly timeZoneData: string;
}

/** How many rows are left after a condition of `where`, or after all that are skipped or rejected for another reason. */
export interface FunnelStage {
  /** The condition, where the code is `filtered`. */
  readonly filter?: string | undefined;
  /** The code of the skipped rows, or `rejected` for all rejected ones. */
  readonly code: string;
  readonly omitted: number;
  readonly left: number;
  /** The commonest cells that a condition left out, '' for a blank one; without personal data. */
  readonly values?: readonly CellCount[] | undefined;
  /** Says that a condition left out other spellings of a country that it names. */
  readonly warning?: string | undefined;
}

/** A step's files as planned: who knows plan.json knows what is sent. */
export interface StepFiles {
  /** Each line has a checksum of its own, too. */
  readonly requests: FileDigest;
  readonly rows: FileDigest;
}

export interface FileDigest {
  readonly bytes: number;
  /** SHA-256 in hex. */
  readonly sha256: string;
}

export interface PlannedInput {
  /** The file as places show it. */
  readonly file: string;
  readonly path: string;
  readonly sha256: string;
  /** Unpacked; the same as `sha256` for a file that is not packed. */
  readonly contentSha256: string;
  /** The digest of its rows, in whatever encoding (plan-step.ts); absent for re-imported rows. */
  readonly rowsSha256?: string | undefined;
  readonly bytes: number;
  readonly columns: readonly string[];
  /** For each of them, its place among the columns of the step. */
  readonly columnMap: readonly number[];
  readonly rows: number;
  readonly notices: readonly string[];
  /** Files whose rejected rows it holds, by their ids (reimport/named-rows.ts); absent where it holds none. */
  readonly fedFrom?: readonly string[];
}

/** All by which a file that was taken is known again. */
export function digestsOf({ contentSha256, rowsSha256 }: PlannedInput): string[] {
  return rowsSha256 === undefined ? [contentSha256] : [contentSha256, rowsSha256];
}

/** The digest by which the rows of a file are known, in whatever encoding it was read: that of their own, where they have one. */
export function digestOfRows({ contentSha256, rowsSha256 }: PlannedInput): string {
  return rowsSha256 ?? contentSha256;
}

/** A suppression list, and what it did. All figures count its numbers, each once. */
export interface SuppressionInput {
  readonly file: string;
  readonly path: string;
  readonly sha256: string;
  /** Names of the columns that its numbers were read from. */
  readonly columns: readonly string[];
  readonly read: number;
  /** Numbers that a recipient of the step has; `notFound`: those that none has. */
  readonly found: number;
  readonly notFound: number;
  /** Numbers that were written without +, and read in the country `readAs`: that of the list, or else of the input. */
  readonly withoutPlus: number;
  readonly readAs: string | null;
  /** `withoutPlus` where the country is that of the input, and the recipients are of several: some may be of another. */
  readonly ambiguous: number;
}

interface StepCounts {
  readonly read: number;
  readonly planned: number;
  readonly rejected: number;
  readonly skipped: number;
  readonly requests: number;
  readonly messages: number;
  readonly segments: number;
}

export interface RequestHead {
  readonly request: number;
  readonly first: number;
  readonly rows: number;
  readonly messages: number;
  readonly segments: number;
  /** The group of its rows (hours/window.ts); absent where its step has no window. */
  readonly hours?: string;
  /** The stage of its rows, from 1; absent where its step has no stages. */
  readonly stage?: number;
}

export function totalOf({ steps }: Pick<Plan, 'steps'>, figure: keyof StepCounts): number {
  return sumOf(steps.map(({ counts }) => counts[figure]));
}

/** A step by its kind and its place among those of the kind: the same in a job to which other steps were added. */
export function nameAmongKind(steps: readonly Pick<PlannedStep, 'kind' | 'number'>[], number: number): string {
  const kind = steps.find((step) => step.number === number)?.kind ?? '';
  return `${kind} ${steps.filter((step) => step.kind === kind && step.number <= number).length}`;
}

export function requestsFile(directory: string, step: { number: number; kind: string }): string {
  return join(directory, `${step.number}-${step.kind}.requests.ndjson`);
}

export function rowsFile(directory: string, step: { number: number; kind: string }): string {
  return join(directory, `${step.number}-${step.kind}.rows.ndjson`);
}

export async function readPlan(files: Files, directory: string): Promise<Plan> {
  const path = join(directory, PLAN_FILE);
  const text = await files.readText(path);
  if (text === undefined && (await holdsRun(files, directory))) throw planDamaged(path, 'it does not exist');
  if (text === undefined) {
    throw new UserError(
      'bad-plan',
      `Cannot read a plan in ${directory}: it has no ${PLAN_FILE}, expected a run directory`,
      { hint: 'Give the directory that `volley plan` or `volley run` printed.' },
    );
  }
  const plan: Plan | undefined = readSealed(text);
  if (plan === undefined) throw planDamaged(path, 'its checksum shows that it was changed');
  if (plan.format !== PLAN_FORMAT) {
    throw new UserError('bad-plan', `Cannot read ${path}: its format is ${plan.format}, expected ${PLAN_FORMAT}`, {
      hint: 'Finish it with the version of volley that made it.',
    });
  }
  return plan;
}

/** The text of plan.json. */
export function encodePlan(plan: Plan): string {
  return sealJson(plan);
}

/** SHA-256, in hex, of the plan.json in the directory of a run as it is now. */
export async function digestPlanOf(files: Pick<Files, 'readText'>, directory: string): Promise<string> {
  return sha256Of((await files.readText(join(directory, PLAN_FILE))) ?? '');
}

async function holdsRun(files: Files, directory: string): Promise<boolean> {
  const names = await files.list(directory).catch(() => []);
  return names.some((name) => name === JOURNAL_FILE || /\.requests\.ndjson(\.gz)?$/.test(name));
}

const CRC_KEY = ',"crc":"';
const CLOSING_BRACE = 0x7d;

const LINE_END = Buffer.from('}\n');

/** Encodes a request in pieces; the body is passed through as one of them. */
export function encodeRequestLine(head: RequestHead, body: Buffer): readonly Buffer[] {
  const text = Buffer.from(JSON.stringify(head).slice(0, -1));
  return [text, Buffer.from(formatSeam(text, body)), body, LINE_END];
}

/** `bytes` is without the newline. The body is a view of them, not a copy. Refuses any change to the line. */
export function decodeRequestLine(bytes: Buffer, where: string): RequestHead & { readonly body: Buffer } {
  const headEnd = bytes.indexOf(CRC_KEY);
  const text = bytes.subarray(0, Math.max(0, headEnd));
  const bodyStart = headEnd + SEAM_LENGTH;
  const body = bytes.subarray(bodyStart, -1);
  const seam = bytes.toString('latin1', Math.max(0, headEnd), bodyStart);
  if (headEnd === -1 || bytes.at(-1) !== CLOSING_BRACE || seam !== formatSeam(text, body)) {
    throw planDamaged(where, 'a request in it is damaged');
  }
  return { ...JSON.parse(`${text}}`), body };
}

/** Formats what stands between head and body: the checksum of both. */
function formatSeam(head: Buffer, body: Buffer): string {
  const crc = crc32(body, crc32(head)).toString(16).padStart(8, '0');
  return `${CRC_KEY}${crc}","body":`;
}

const SEAM_LENGTH = formatSeam(Buffer.alloc(0), Buffer.alloc(0)).length;
