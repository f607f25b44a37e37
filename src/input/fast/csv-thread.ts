import { parentPort, workerData } from 'node:worker_threads';
import { type Problem, UserError, type UserErrorCode } from '../../domain/errors.js';
import { bindRows } from '../../filter/bind-rows.js';
import type { Input, RowStep } from '../../job/job.js';
import { Columns } from '../../normalize/columns.js';
import { CsvReader } from '../csv/csv-reader.js';
import type { InputFile } from '../inputs.js';
import { draftBlock, type ReadBlock } from '../record-reader.js';

/** What the thread is started with. */
export interface CsvTask {
  readonly file: InputFile;
  readonly input: Input;
  /** The step for which rows are drafted, if any. */
  readonly step: RowStep | undefined;
  /** How many blocks the receiver has taken: the only number in memory that both threads share. */
  readonly taken: Int32Array<SharedArrayBuffer>;
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
/** While fewer blocks wait to be taken, the receiver has time to draft some itself. */
const ENOUGH_BLOCKS = 3;

async function readInThread({ file, input, step, taken }: CsvTask): Promise<void> {
  const say = (message: CsvMessage, handedOver: ArrayBuffer[] = []) => parentPort?.postMessage(message, handedOver);
  const reader = new CsvReader(file, input);
  let sent = 0;
  try {
    await reader.open();
    say({ kind: 'opened', columns: reader.columns, ownColumns: reader.ownColumns });
    const columns = new Columns(reader.columns);
    const draftRow = step && bindRows(step, columns);
    for await (const { rows } of reader.blocks()) {
      let count = Atomics.load(taken, 0);
      for (; sent - count >= BLOCKS_AHEAD; count = Atomics.load(taken, 0)) Atomics.wait(taken, 0, count);
      const isAhead = sent - count >= ENOUGH_BLOCKS && columns.problems.length === 0;
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
  }
}

/** The memory of a block, to be transferred instead of copied. */
function listBuffers(part: object): ArrayBuffer[] {
  return Object.values(part).flatMap((value) => {
    if (ArrayBuffer.isView(value)) return value.buffer as ArrayBuffer;
    return typeof value === 'object' ? listBuffers(value) : [];
  });
}

await readInThread(workerData as CsvTask);
