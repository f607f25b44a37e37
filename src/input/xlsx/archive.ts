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
export async function openArchive(source: ByteSource) {
  const { path, shown, maxFileBytes } = source;
  const zip = await openPromise(path, { autoClose: false, lazyEntries: true }).catch((error: unknown) => {
    throw refuseZip(shown, error);
  });
  const entries = await listEntries(zip, shown).catch((error: unknown) => {
    zip.close();
    throw refuseZip(shown, error);
  });
  let bytes = 0;
  const count = (more: number) => {
    bytes += more;
    if (bytes > maxFileBytes) {
      throw refuse({
        where: shown,
        message: `it holds more than ${maxFileBytes} bytes of content, expected at most that many`,
        hint: 'Split the workbook, or raise limits.maxFileBytes where the job names the file.',
      });
    }
  };
  return {
    has: (name: string): boolean => entries.has(name.toLowerCase()),
    /** The pieces of a part, unpacked. To be read one part at a time. */
    async *read(name: string): AsyncGenerator<Buffer> {
      const entry = entries.get(name.toLowerCase());
      if (entry === undefined) throw refuseDamaged(shown, `it lacks its part ${name}`);
      let checksum = 0;
      try {
        for await (const piece of await zip.openReadStreamPromise(entry)) {
          checksum = crc32(piece, checksum);
          count(piece.length);
          yield piece;
        }
      } catch (error) {
        throw refuseZip(shown, error);
      }
      if (checksum !== entry.crc32) throw refuseDamaged(shown, `the checksum of its part ${name} is wrong`);
    },
    close: (): void => zip.close(),
  };
}

export type Archive = Awaited<ReturnType<typeof openArchive>>;

/** Parts by name in lower case: case makes no difference. */
async function listEntries(zip: ZipFile, shown: string): Promise<ReadonlyMap<string, Entry>> {
  if (zip.entryCount > MAX_ENTRIES) {
    throw refuseDamaged(shown, `it holds ${zip.entryCount} parts, more than a workbook has`);
  }
  const entries = new Map<string, Entry>();
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileName.toLowerCase();
    if (entries.has(name)) throw refuseDamaged(shown, `it holds its part ${entry.fileName} twice`);
    entries.set(name, entry);
  }
  return entries;
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
