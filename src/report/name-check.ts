import type { Files } from '../storage/files.js';

/** The same disk, on which no whole file gets its name unless `check` lets it; what `check` throws, the writer throws. */
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

/** After so many attempts whoever makes the source grow is at work on it still, and writes outputs of its own at its end. */
const MOST_ATTEMPTS = 3;

/**
 * Writes what is made of a source that other processes may append to. While it grows under an attempt, no file gets its name,
 * and all is made anew: what is older than the source must not take the place of what another process has made of it since.
 */
export async function writeFromGrowing<T>(
  files: Files,
  source: string,
  attempt: (files: Files) => Promise<T>,
): Promise<T> {
  const readSize = async () => (await files.stat(source))?.bytes;
  // Of this call alone: what is written from two sources looks after both.
  const grown = new Error(`${source} has grown`);
  for (let left = MOST_ATTEMPTS - 1; left > 0; left--) {
    const bytes = await readSize();
    const assertSame = async () => {
      if ((await readSize()) !== bytes) throw grown;
    };
    try {
      const result = await attempt(checkNames(files, assertSame));
      // Between the last look and its name a file may have become older than the source.
      await assertSame();
      return result;
    } catch (error) {
      if (error !== grown) throw error;
    }
  }
  return attempt(files);
}
