import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { UserError } from '../errors.js';
import type { Input, RowStep } from '../job/job.js';
import type { InputFile } from '../read/inputs.js';
import type { ReadRecord, RecordReader } from '../read/reader.js';
import type { RowRecord } from '../steps/kind.js';
import type { CsvMessage, CsvOrder, CsvTask } from './csv-thread.js';
import { decodeBlock } from './record-block.js';

const THREAD = new URL('./csv-thread.js', import.meta.url);
/** So much is read before it is asked for: of most files less than 2 MB. */
const BLOCKS_AHEAD = 16;
/** Each message wakes the other thread: one for so many blocks is enough. */
const BLOCKS_A_MESSAGE = BLOCKS_AHEAD / 2;
/** Cells die young: with four times the room that Node gives them, a million rows are planned 5 % sooner, in 35 MB more. */
const YOUNG_MB = 64;

/** Run from its sources, as tests do, there is no compiled thread to start; with one core a thread takes more than it gives. */
export function canReadInThread(): boolean {
  return availableParallelism() > 1 && existsSync(THREAD);
}

/** A CSV read in a thread of its own, which parses and drafts while this one plans the rows before. */
export class ThreadedCsvReader implements RecordReader {
  columns: readonly string[] = [];
  ownColumns: readonly (readonly string[])[] = [];
  notices: readonly string[] = [];
  sha256 = '';
  bytes = 0;
  readonly #task: CsvTask;
  #thread: Worker | undefined;
  readonly #heard: CsvMessage[] = [];
  #failure: unknown;
  #isOver = false;
  #wake: (() => void) | undefined;
  #opened: Promise<void> | undefined;
  #step: RowStep | undefined;

  constructor(file: InputFile, input: Input) {
    this.#task = { file, input, blocksAhead: BLOCKS_AHEAD };
  }

  async open(): Promise<void> {
    this.#opened ??= this.#start();
    await this.#opened;
  }

  /** Has the rows drafted as a step plans them; to be called before `batches`. */
  draftRows(step: RowStep): void {
    this.#step = step;
  }

  async *batches(): AsyncGenerator<readonly (ReadRecord & RowRecord)[]> {
    await this.open();
    this.#order({ kind: 'begin', step: this.#step });
    let taken = 0;
    try {
      for (let said = await this.#hear(); said.kind !== 'ended'; said = await this.#hear()) {
        if (said.kind !== 'block') continue;
        taken += 1;
        if (taken % BLOCKS_A_MESSAGE === 0) this.#order({ kind: 'more', blocks: BLOCKS_A_MESSAGE });
        yield decodeBlock(said.block);
      }
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  #order(order: CsvOrder): void {
    this.#thread?.postMessage(order);
  }

  async #start(): Promise<void> {
    const thread = new Worker(THREAD, {
      workerData: this.#task,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
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

  /** The next message; refusals, and a thread that came to grief, are thrown. */
  async #hear(): Promise<CsvMessage> {
    while (this.#heard.length === 0) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isOver) throw new Error(`The thread that reads ${this.#task.file.shown} ended without a word`);
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
      this.bytes = said.bytes;
    }
    return said;
  }
}
