import { parentPort, workerData } from 'node:worker_threads';
import { type Problem, UserError } from '../errors.js';
import type { Input } from '../job/job.js';
import type { NumberColumn } from '../normalize/number.js';
import { CsvReader } from './csv.js';
import type { InputFile } from './inputs.js';
import { encodeBlock, type RecordBlock } from './record-block.js';

/** What the thread is started with. */
export interface CsvTask {
  readonly file: InputFile;
  readonly input: Input;
  /** Blocks that may be on their way; then the thread waits to be told how many more may be. */
  readonly blocksAhead: number;
}

/** What the thread is told: to begin, once its header has been looked at, and how many more blocks it may send. */
export type CsvOrder =
  | { readonly kind: 'begin'; readonly numbers: NumberColumn | undefined }
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
  const begun = new Promise<NumberColumn | undefined>((resolve) => {
    port.on('message', (order: CsvOrder) => {
      if (order.kind === 'begin') return resolve(order.numbers);
      credit += order.blocks;
      onCredit?.();
    });
  });
  const reader = new CsvReader(file, input);
  try {
    await reader.open();
    say({ kind: 'opened', columns: reader.columns, ownColumns: reader.ownColumns });
    const numbers = await begun;
    for await (const batch of reader.batches()) {
      while (credit === 0) {
        await new Promise<void>((resolve) => {
          onCredit = resolve;
        });
      }
      credit -= 1;
      say({ kind: 'block', block: encodeBlock(batch, numbers) });
    }
    const { notices, sha256, bytes } = reader;
    say({ kind: 'ended', notices, sha256, bytes });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { message, hint, problems } = error;
    say({ kind: 'refused', message, hint, problems });
  } finally {
    port.close();
  }
}

await readInThread(workerData as CsvTask);
