import { parentPort, workerData } from 'node:worker_threads';
import { type Problem, UserError, type UserErrorCode } from '../errors.js';
import type { Input, RowStep } from '../job/job.js';
import { findColumn } from '../read/columns.js';
import { CsvReader } from '../read/csv.js';
import type { InputFile } from '../read/inputs.js';
import type { DraftRow } from '../steps/kind.js';
import { kindOf } from '../steps/table.js';
import { encodeBlock, type RecordBlock } from './record-block.js';

/** What the thread is started with. */
export interface CsvTask {
  readonly file: InputFile;
  readonly input: Input;
  /** Blocks that may be on their way; then the thread waits to be told how many more may be. */
  readonly blocksAhead: number;
}

/** What the thread is told: to begin, and for which step to draft the rows if for any; and how many more blocks it may send. */
export type CsvOrder =
  | { readonly kind: 'begin'; readonly step: RowStep | undefined }
  | { readonly kind: 'more'; readonly blocks: number };

/** What the thread says, in this order: opened, blocks, ended; or refused instead of any of them. */
export type CsvMessage =
  | {
      readonly kind: 'opened';
      readonly columns: readonly string[];
      readonly ownColumns: readonly (readonly string[])[];
    }
  | { readonly kind: 'block'; readonly block: RecordBlock }
  | { readonly kind: 'ended'; readonly notices: readonly string[]; readonly sha256: string; readonly bytes: number }
  | {
      readonly kind: 'refused';
      readonly code: UserErrorCode;
      readonly message: string;
      readonly hint: string | undefined;
      readonly problems: readonly Problem[];
    };

async function readInThread({ file, input, blocksAhead }: CsvTask): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('This file is the entry of a thread');
  const say = (message: CsvMessage) => port.postMessage(message);
  let credit = blocksAhead;
  let onCredit: (() => void) | undefined;
  const begun = new Promise<RowStep | undefined>((resolve) => {
    port.on('message', (order: CsvOrder) => {
      if (order.kind === 'begin') return resolve(order.step);
      credit += order.blocks;
      onCredit?.();
    });
  });
  const reader = new CsvReader(file, input);
  try {
    await reader.open();
    say({ kind: 'opened', columns: reader.columns, ownColumns: reader.ownColumns });
    const draftRow = bindDrafts(await begun, reader.columns);
    for await (const batch of reader.batches()) {
      while (credit === 0) {
        await new Promise<void>((resolve) => {
          onCredit = resolve;
        });
      }
      credit -= 1;
      say({ kind: 'block', block: encodeBlock(batch, draftRow) });
    }
    const { notices, sha256, bytes } = reader;
    say({ kind: 'ended', notices, sha256, bytes });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { code, message, hint, problems } = error;
    say({ kind: 'refused', code, message, hint, problems });
  } finally {
    port.close();
  }
}

/** Undefined where the rows have no drafts; a column that is not there is told by whoever plans. */
function bindDrafts(step: RowStep | undefined, columns: readonly string[]): DraftRow | undefined {
  const bound = step && kindOf(step).createDrafter?.(step).bind(columns, findColumn);
  return typeof bound === 'function' ? bound : undefined;
}

await readInThread(workerData as CsvTask);
