import type { Files } from '../files.js';
import { splitLines } from '../split-lines.js';

/** The lines of a plan's file, in their order, without their newlines. */
export async function* readLines(files: Files, path: string): AsyncGenerator<Buffer> {
  const file = await files.openRead(path);
  try {
    for await (const { bytes } of splitLines(file)) yield bytes;
  } finally {
    await file.close();
  }
}
