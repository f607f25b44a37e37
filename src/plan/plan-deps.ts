import { hash } from 'node:crypto';
import type { InputFile } from '../input/inputs.js';
import type { RecordReader } from '../input/record-reader.js';
import type { Input, RowStep, Step } from '../job/job.js';
import type { HadRows } from '../kinds/row-judge.js';
import type { Files } from '../storage/files.js';
import type { HadFigures, Plan } from './format/plan-file.js';
import type { KnownLists } from './suppress/suppression-columns.js';

/** How the planner reaches input files; `input/` offers it. Refusals are thrown as UserError 'bad-input'. */
export interface InputReader {
  /** Absolute files and globs as existing files; each once, sorted by path. Without `onEmptyPattern` a glob must match. */
  listInputs(
    patterns: readonly string[],
    directory: string,
    onEmptyPattern?: (shown: string) => void,
  ): Promise<readonly InputFile[]>;
  /** Digests the bytes on disk, without unpacking. */
  digestInput(path: string): Promise<{ sha256: string; bytes: number }>;
  /** Digests the unpacked content; undefined for a file that is not packed. */
  digestContent(path: string): Promise<string | undefined>;
  /** `step`: for which rows may be drafted while they are read. */
  readRecords(file: InputFile, input: Input, step?: RowStep): RecordReader;
  /** Keeps suppression lists from plan to plan; absent where each is read once. */
  readonly knownLists?: KnownLists;
  /** Writes standard input to `path`, whole and durable. */
  spoolStandardInput(path: string): Promise<void>;
}

export interface PlanDeps {
  readonly files: Files;
  readonly reader: InputReader;
  /** Absent where nothing is to be sent by the plan. */
  readonly openPeople?: OpenPeople;
  /** Distinguishes two planners that write at the same time. */
  readonly processId: number;
  readonly plannedBy: string;
  readonly onProgress: (progress: { step: number; rows: number }) => void;
  /** When it aborts, planning ends at once and leaves no files. */
  readonly signal: AbortSignal;
}

/** Who had which text by earlier runs, as one step asks it. */
export interface HadLookup extends HadRows {
  /** Adds up all rows that were asked; undefined where none had it. */
  figures(): HadFigures | undefined;
}

/** The memory of people, opened for one plan: one lookup a step. Undefined where it says nothing of any. */
export type OpenPeople = (
  plan: Pick<Plan, 'job' | 'occurrence' | 'retryOf'> & { readonly id?: string },
  jobDirectory: string,
) => Promise<((step?: Step) => HadLookup) | undefined>;

/** How what came by it is shown. */
export const STANDARD_INPUT = 'standard input';

export interface DigestedInput {
  readonly file: InputFile;
  readonly sha256: string;
  readonly bytes: number;
  /** Digest of the unpacked content, which identifies a file; of a workbook with that of the sheet that is named. */
  readonly contentSha256: string;
}

/** A file as it is read: the sheets of a workbook are files of their own. */
export function nameInput(
  file: InputFile,
  { contentSha256, ...digest }: Omit<DigestedInput, 'file'>,
  sheet: string | undefined,
): DigestedInput {
  const isSheet = sheet !== undefined && file.format === 'xlsx';
  return { file, ...digest, contentSha256: isSheet ? hash('sha256', `${contentSha256} ${sheet}`) : contentSha256 };
}

export async function digestFile(
  path: string,
  { reader }: { reader: Pick<InputReader, 'digestInput' | 'digestContent'> },
): Promise<Omit<DigestedInput, 'file'>> {
  const { sha256, bytes } = await reader.digestInput(path);
  return { sha256, bytes, contentSha256: (await reader.digestContent(path)) ?? sha256 };
}
