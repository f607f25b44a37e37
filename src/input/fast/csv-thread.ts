import { parentPort, workerData } from 'node:worker_threads';
import { type Problem, UserError, type UserErrorCode } from '../../domain/errors.js';
import { bindRows } from '../../filter/filter-rows.js';
import type { Input, RowStep } from '../../job/job.js';
import { Columns } from '../../normalize/columns.js';
import { CsvReader } from '../csv/csv-reader.js';
import type { InputFile } from '../inputs.js';
import type { ReadBlock } from '../record-reader.js';
import { BlocksTaken, listBuffers } from './block-message.js';
import { draftBlock } from './draft-block.js';

/** What the thread is started with. */
export interface CsvTask {
  readonly file: InputFile;
  readonly input: Input;
  readonly taken: BlocksTaken['memory'];
}

/** Sent to the thread once the columns are known: begin, and for which step, if any, to draft the rows. */
export interface CsvOrder {
  readonly step: RowStep | undefined;
}

/** The thread's messages, in this order: opened, blocks, ended; or refused instead of any of them. */
export type CsvMessage =
  | {
      readonly kind: 'opened';
      readonly columns: readonly string[];
      readonly ownColumns: readonly (readonly string[])[];
    }
  | { readonly kind: 'block'; readonly block: ReadBlock }
  | { readonly kind: 'ended'; readonly notices: readonly string[]; readonly sha256: string }
  | {
      readonly kind: 'refused';
      readonly code: UserErrorCode;
      readonly message: string;
      readonly hint: string | undefined;
      readonly problems: readonly Problem[];
    };

/** Blocks read ahead of demand; for most files less than 4 MB. */
const BLOCKS_AHEAD = 16;
/** While fewer wait to be taken, the receiver has time to draft some itself. */
const ENOUGH_BLOCKS = 3;

async function readInThread({ file, input, taken }: CsvTask): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('This file is the entry of a thread');
  const say = (message: CsvMessage, handedOver: ArrayBuffer[] = []) => port.postMessage(message, handedOver);
  const begun = new Promise<CsvOrder>((resolve) => port.once('message', resolve));
  const reader = new CsvReader(file, input);
  const takenBlocks = new BlocksTaken(taken);
  let sent = 0;
  try {
    await reader.open();
    say({ kind: 'opened', columns: reader.columns, ownColumns: reader.ownColumns });
    const { step } = await begun;
    const columns = new Columns(reader.columns);
    const draftRow = step && bindRows(step, columns);
    for await (const { rows } of reader.blocks()) {
      takenBlocks.waitForMoreThan(sent - BLOCKS_AHEAD);
      const isAhead = sent - takenBlocks.count >= ENOUGH_BLOCKS && columns.problems.length === 0;
      const block = { rows, drafts: draftRow && isAhead ? draftBlock(rows, draftRow) : undefined };
      say({ kind: 'block', block }, listBuffers(block));
      sent += 1;
    }
    const { notices, sha256 } = reader;
    say({ kind: 'ended', notices, sha256 });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { code, message, hint, problems } = error;
    say({ kind: 'refused', code, message, hint, problems });
  } finally {
    port.close();
  }
}

await readInThread(workerData as CsvTask);
