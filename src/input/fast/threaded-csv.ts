import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { UserError } from '../../domain/errors.js';
import type { Input, RowStep } from '../../job/job.js';
import type { InputFile } from '../inputs.js';
import type { ReadBlock, RecordReader } from '../record-reader.js';
import { BlocksTaken } from './block-message.js';
import type { CsvMessage, CsvOrder, CsvTask } from './csv-thread.js';

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
  readonly #heard: CsvMessage[] = [];
  #failure: unknown;
  #isOver = false;
  #wake: (() => void) | undefined;
  #opened: Promise<void> | undefined;
  readonly #taken = new BlocksTaken();

  constructor(file: InputFile, input: Input) {
    this.#task = { file, input, taken: this.#taken.memory };
  }

  async open(): Promise<void> {
    this.#opened ??= this.#start();
    await this.#opened;
  }

  async *blocks(step?: RowStep): AsyncGenerator<ReadBlock> {
    await this.open();
    const order: CsvOrder = { step };
    this.#thread?.postMessage(order);
    try {
      for (let said = await this.#hear(); said.kind !== 'ended'; said = await this.#hear()) {
        if (said.kind !== 'block') continue;
        this.#taken.take();
        yield said.block;
      }
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  async #start(): Promise<void> {
    const thread = new Worker(THREAD, { workerData: this.#task });
    this.#thread = thread;
    const wake = () => this.#wake?.();
    thread.on('message', (message: CsvMessage) => {
      this.#heard.push(message);
      wake();
    });
    thread.on('error', (error) => {
      this.#failure = error;
      wake();
    });
    thread.on('exit', () => {
      this.#isOver = true;
      wake();
    });
    const said = await this.#hear();
    if (said.kind !== 'opened') return;
    this.columns = said.columns;
    this.ownColumns = said.ownColumns;
  }

  /** The next message; throws refusals, and the error of a failed thread. */
  async #hear(): Promise<CsvMessage> {
    while (this.#heard.length === 0) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isOver) throw new Error(`The thread that reads ${this.#task.file.shown} ended unexpectedly`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const said = this.#heard.shift() as CsvMessage;
    if (said.kind === 'refused') {
      const { code, message, hint, problems } = said;
      throw new UserError(code, message, { ...(hint === undefined ? {} : { hint }), problems });
    }
    if (said.kind === 'ended') {
      this.notices = said.notices;
      this.sha256 = said.sha256;
    }
    return said;
  }
}
