import type { RowBlock } from '../domain/bytes/row-block.js';
import type { SourceRecord } from '../domain/row.js';
import type { Input, RowStep } from '../job/job.js';
import type { DraftBlock } from '../kinds/draft-block.js';
import type { FindColumn } from '../kinds/step-kind.js';
import type { Files } from '../storage/files.js';

/** How the planner reaches input files; `input/` offers it. Refusals are thrown as UserError 'bad-input'. */
export interface InputReader {
  /** Files and globs, absolute, as files that exist; each once, sorted by path. Without `onEmptyPattern` a glob must fit. */
  listInputs(
    patterns: readonly string[],
    directory: string,
    onEmptyPattern?: (shown: string) => void,
  ): Promise<readonly InputFile[]>;
  /** Over the bytes on disk, compressed as they are. */
  digestInput(path: string): Promise<{ sha256: string; bytes: number }>;
  /** Of what a packed file holds; undefined for one that is not packed. */
  digestContent(path: string): Promise<string | undefined>;
  readRecords(file: InputFile, input: Input): RecordReader;
  findColumn: FindColumn;
  /** Standard input, written whole and durable to `path`. */
  spoolStandardInput(path: string): Promise<void>;
}

export interface InputFile {
  readonly path: string;
  /** Relative to the job file, with forward slashes: what places show. */
  readonly shown: string;
  readonly format: 'csv' | 'ndjson';
}

/** A record with what an output of ours says of it beside its cells. */
export interface InputRecord extends SourceRecord {
  /** Of a row of another run: its id there (kinds/ids.ts); '' for one that is none, and no id where it cannot be read. */
  readonly ownId?: string | undefined;
}

/** Rows with their drafts, as bytes that go into the plan as they are. */
export interface DraftedBlock {
  readonly rows: RowBlock;
  readonly drafts: DraftBlock;
}

export interface RecordReader {
  /** Known after `open` for CSV; for NDJSON they grow while batches are read. */
  readonly columns: readonly string[];
  readonly notices: readonly string[];
  /** Of outputs of ours the columns that begin as ours do, a list for each different set; whole when `batches` has ended. */
  readonly ownColumns?: readonly (readonly string[])[];
  open(): Promise<void>;
  /**
   * Of a reader that can do so, the rows with the drafts that the step makes of them; undefined where it cannot for this step, or for
   * rows of outputs of ours. To be called after `open`, in place of `batches`.
   */
  draftedBlocks?(step: RowStep): AsyncIterable<DraftedBlock> | undefined;
  batches(): AsyncIterable<readonly InputRecord[]>;
  /** For whoever opens it and does not walk its batches: a thread that waits to be asked would keep the process from its end. */
  close?(): Promise<void>;
  /** Of the bytes that were read; complete when `batches` has ended. */
  readonly sha256: string;
}

export interface PlanDeps {
  readonly files: Files;
  readonly reader: InputReader;
  /** Tells two planners apart that write beside each other. */
  readonly processId: number;
  readonly onProgress: (progress: { step: number; rows: number }) => void;
  /** Planning ends at once, and leaves nothing, when it aborts. */
  readonly signal: AbortSignal;
}
