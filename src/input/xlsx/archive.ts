import { crc32 } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { messageOf, UserError } from '../../domain/errors.js';
import { describeDiskError, refuse, refuseUnreadable } from '../record-reader.js';
import type { ByteSource } from '../text/byte-source.js';

/** A workbook has dozens. */
const MAX_ENTRIES = 10_000;

/**
 * The ZIP file that a workbook is: its parts, read one at a time and in pieces. All that is read counts towards
 * `maxFileBytes`. Refuses a file that is cut off or damaged, by its checksums, and one whose parts are encrypted.
 */
export class Archive {
  readonly #source: ByteSource;
  readonly #zip: ZipFile;
  /** Parts by name in lower case: case makes no difference. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  private constructor(source: ByteSource, zip: ZipFile) {
    this.#source = source;
    this.#zip = zip;
  }

  static async open(source: ByteSource): Promise<Archive> {
    try {
      const zip = await openPromise(source.path, { autoClose: false, lazyEntries: true });
      const archive = new Archive(source, zip);
      await archive.#list().catch((error: unknown) => {
        zip.close();
        throw error;
      });
      return archive;
    } catch (error) {
      throw refuseZip(source.shown, error);
    }
  }

  has(name: string): boolean {
    return this.#entries.has(name.toLowerCase());
  }

  /** The pieces of a part, unpacked. To be read one part at a time. */
  async *read(name: string): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(name.toLowerCase());
    if (entry === undefined) throw refuseDamaged(this.#source.shown, `it lacks its part ${name}`);
    let checksum = 0;
    try {
      for await (const piece of await this.#zip.openReadStreamPromise(entry)) {
        checksum = crc32(piece, checksum);
        this.#count(piece.length);
        yield piece;
      }
    } catch (error) {
      throw refuseZip(this.#source.shown, error);
    }
    if (checksum !== entry.crc32) throw refuseDamaged(this.#source.shown, `the checksum of its part ${name} is wrong`);
  }

  close(): void {
    this.#zip.close();
  }

  async #list(): Promise<void> {
    const { shown } = this.#source;
    if (this.#zip.entryCount > MAX_ENTRIES) {
      throw refuseDamaged(shown, `it holds ${this.#zip.entryCount} parts, more than a workbook has`);
    }
    for await (const entry of this.#zip.eachEntry()) {
      const name = entry.fileName.toLowerCase();
      if (this.#entries.has(name)) throw refuseDamaged(shown, `it holds its part ${entry.fileName} twice`);
      this.#entries.set(name, entry);
    }
  }

  #count(bytes: number): void {
    const { shown, maxFileBytes } = this.#source;
    this.#bytes += bytes;
    if (this.#bytes > maxFileBytes) {
      throw refuse({
        where: shown,
        message: `it holds more than ${maxFileBytes} bytes of content, expected at most that many`,
        hint: 'Split the workbook, or raise limits.maxFileBytes where the job names the file.',
      });
    }
  }
}

/** A workbook that no program can have written so. */
export function refuseDamaged(shown: string, reason: string): UserError {
  return refuse({
    where: shown,
    message: `the workbook is damaged (${reason}), expected a whole .xlsx file`,
    hint: 'Fetch it again; or open it in a spreadsheet program, and save it as .xlsx or as CSV.',
  });
}

function refuseZip(shown: string, error: unknown): unknown {
  if (error instanceof UserError) return error;
  if (describeDiskError(error) !== undefined) return refuseUnreadable(shown, error);
  return refuseDamaged(shown, messageOf(error));
}
