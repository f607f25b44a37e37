import { on } from 'node:events';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { UserError } from '../../domain/errors.js';
import type { Input, RowStep } from '../../job/job.js';
import type { InputFile } from '../inputs.js';
import type { ReadBlock, RecordReader } from '../record-reader.js';
import type { CsvMessage, CsvTask } from './csv-thread.js';

const THREAD = new URL('./csv-thread.js', import.meta.url);

/** Run from its sources, as in tests, there is no compiled thread to start; with one core a thread costs more than it saves. */
export function canReadInThread(): boolean {
  return availableParallelism() > 1 && existsSync(THREAD);
}

/**
 * A CSV read in a thread of its own, which parses and drafts while this one plans the rows before, and drafts as well where it
 * would only wait.
 */
export class ThreadedCsvReader implements RecordReader {
  columns: readonly string[] = [];
  ownColumns: readonly (readonly string[])[] = [];
  notices: readonly string[] = [];
  sha256 = '';
  readonly #task: CsvTask;
  #thread: Worker | undefined;
  #messages: AsyncIterator<[CsvMessage]> | undefined;
  #opened: Promise<void> | undefined;

  constructor(file: InputFile, input: Input, step?: RowStep) {
    const taken = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    this.#task = { file, input, step, taken };
  }

  async open(): Promise<void> {
    this.#opened ??= this.#start();
    await this.#opened;
  }

  async *blocks(): AsyncGenerator<ReadBlock> {
    const { taken } = this.#task;
    await this.open();
    try {
      for (let said = await this.#hear(); said.kind !== 'ended'; said = await this.#hear()) {
        if (said.kind !== 'block') continue;
        Atomics.add(taken, 0, 1);
        Atomics.notify(taken, 0);
        yield said.block;
        // A thread that is ahead sends messages without end: without this, signals, timers and all else in this process would wait for it.
        await setImmediate();
      }
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  async #start(): Promise<void> {
    this.#thread = new Worker(THREAD, { workerData: this.#task });
    this.#messages = on(this.#thread, 'message', { close: ['exit'] }) as AsyncIterator<[CsvMessage]>;
    const said = await this.#hear();
    if (said.kind !== 'opened') return;
    this.columns = said.columns;
    this.ownColumns = said.ownColumns;
  }

  /** The next message; throws refusals, and the error of a failed thread. */
  async #hear(): Promise<CsvMessage> {
    const next = await this.#messages?.next();
    if (next === undefined || next.done === true)
      throw new Error(`The thread that reads ${this.#task.file.shown} ended unexpectedly`);
    const [said] = next.value;
    if (said.kind === 'refused') throw new UserError(said.code, said.message, said);
    if (said.kind === 'ended') {
      this.notices = said.notices;
      this.sha256 = said.sha256;
    }
    return said;
  }
}
