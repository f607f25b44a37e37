import type { Files, ReadFile } from '../storage/files.js';
import type { JournalEntry } from './entry-format.js';
import { readLineAt } from './reader.js';

const NEWLINE = 10;
const WINDOW_BYTES = 1 << 20;

/** Reads journal entries again by the places of their lines; lines near each other share one read. The caller closes it. */
export class JournalWindow {
  readonly #files: Files;
  readonly #path: string;
  readonly #windowBytes: number;
  #window: { offset: number; bytes: Buffer } = { offset: 0, bytes: Buffer.alloc(0) };
  #file: ReadFile | undefined;

  constructor(files: Files, path: string, windowBytes = WINDOW_BYTES) {
    this.#files = files;
    this.#path = path;
    this.#windowBytes = windowBytes;
  }

  /** Damage since the journal was read is InternalError 'journal-damaged'. */
  async readEntry(offset: number): Promise<JournalEntry> {
    let end = this.#endOf(offset);
    for (let size = this.#windowBytes; end === -1; size *= 2) {
      await this.#move(offset, size);
      end = this.#endOf(offset);
      if (this.#window.bytes.length < size) break;
    }
    const { offset: start, bytes } = this.#window;
    const read = async (at: number, count: number) => bytes.subarray(at - start, at - start + count);
    return (await readLineAt({ read }, offset, Math.max(0, end - offset))).entry;
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  /** Behind the newline of the line that begins at `offset`; -1 where the window does not hold it whole. */
  #endOf(offset: number): number {
    const { offset: start, bytes } = this.#window;
    if (offset < start || offset >= start + bytes.length) return -1;
    const newline = bytes.indexOf(NEWLINE, offset - start);
    return newline === -1 ? -1 : start + newline + 1;
  }

  /** The next request may be for a line slightly before. */
  async #move(offset: number, size: number): Promise<void> {
    this.#file ??= await this.#files.openRead(this.#path);
    const start = Math.max(0, offset - (this.#windowBytes >>> 2));
    this.#window = { offset: start, bytes: await this.#file.read(start, size) };
  }
}
