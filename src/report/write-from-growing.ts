import type { Files } from '../storage/files.js';

/** Attempts after which the process that appends to the source is still at work, and will write the outputs itself. */
const MOST_ATTEMPTS = 3;

/**
 * Writes files derived from a source that other processes may append to. If it grows during an attempt, no file gets
 * its name, and the attempt is repeated: an older output must not replace a newer one of another process.
 */
export async function writeFromGrowing<T>(
  files: Files,
  source: string,
  attempt: (files: Files) => Promise<T>,
): Promise<T> {
  const readSize = async () => (await files.stat(source))?.bytes;
  // For this call alone; files from two sources need both checks.
  const grown = new Error(`${source} has grown`);
  for (let left = MOST_ATTEMPTS - 1; left > 0; left--) {
    const bytes = await readSize();
    const assertSame = async () => {
      if ((await readSize()) !== bytes) throw grown;
    };
    try {
      const result = await attempt(checkNames(files, assertSame));
      // The source may have grown between the last check and the rename.
      await assertSame();
      return result;
    } catch (error) {
      if (error !== grown) throw error;
    }
  }
  return attempt(files);
}

/** Wraps a disk so that a whole file gets its name only if `check` resolves; the writer rethrows its error. */
export function checkNames(files: Files, check: () => Promise<void>): Files {
  return {
    ...files,
    createWhole: async (path) => {
      const file = await files.createWhole(path);
      return {
        write: (chunk) => file.write(chunk),
        discard: () => file.discard(),
        finish: async () => {
          await check();
          await file.finish();
        },
      };
    },
    writeWhole: async (path, text) => {
      await check();
      await files.writeWhole(path, text);
    },
  };
}
