import { join } from 'node:path';
import type { Files } from '../../storage/files.js';
import { splitLines } from '../../storage/split-lines.js';

/** Lines that are only ever appended to, in memory or in a file. Appends must not overlap; reads may. */
export interface LineLog {
  /** Appends a line, which ends with its line break. */
  append(line: Buffer): Promise<void>;
  /** Every whole line that was there when reading began, without its line break. */
  read(): AsyncIterable<Buffer>;
  /** Cuts off what stands behind the last line that was read: what a killed process leaves. */
  cutTorn(): Promise<void>;
  /** Forgets all lines but the first. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

export function createMemoryLog(): LineLog {
  let lines: Buffer[] = [];
  return {
    append: async (line) => void lines.push(line),
    read: async function* () {
      for (const line of [...lines]) yield line.subarray(0, -1);
    },
    cutTorn: async () => {},
    clear: async () => {
      lines = lines.slice(0, 1);
    },
    close: async () => {
      lines = [];
    },
  };
}

/**
 * Opens `<directory>/ledger.ndjson`, creating both if missing. What was appended outlives the process. A disk that fails
 * may keep a piece of what it refused: it is no part of what is read, and cut off before the next append.
 */
export async function openFileLog(files: Files, directory: string): Promise<LineLog> {
  await files.makeDirectory(directory);
  const path = join(directory, 'ledger.ndjson');
  const file = await files.openAppend(path);
  let isTorn = false;
  /** The end of the last line that was read, in bytes. */
  let endsAt = 0;

  async function* read(): AsyncGenerator<Buffer> {
    const end = file.bytes;
    const reading = await files.openRead(path);
    try {
      for await (const { bytes, offset, isWhole } of splitLines(reading)) {
        // Torn, written since, or cleared meanwhile.
        if (!isWhole || offset + bytes.length >= end) return;
        endsAt = offset + bytes.length + 1;
        yield bytes;
      }
    } finally {
      await reading.close();
    }
  }

  return {
    append: async (line) => {
      if (isTorn) await file.truncate(file.bytes);
      isTorn = true;
      await file.append(line);
      isTorn = false;
    },
    read,
    cutTorn: async () => {
      if (endsAt < file.bytes) await file.truncate(endsAt);
    },
    clear: async () => {
      for await (const header of read()) return file.truncate(header.length + 1);
    },
    close: () => file.close(),
  };
}
