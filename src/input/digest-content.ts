import { open } from 'node:fs/promises';
import { UserError } from '../domain/errors.js';
import { Digest } from './digest-input.js';
import { isPacked, readContent } from './text/byte-source.js';

/**
 * SHA-256 of what a packed file holds; undefined for one that is not packed, or cannot be unpacked (reading it reports
 * why). So a file that was packed after it was sent is recognized.
 */
export async function digestContent(path: string): Promise<string | undefined> {
  if (!isPacked(path, await readHead(path))) return undefined;
  const content = new Digest();
  const source = { path, shown: path, maxFileBytes: Number.MAX_SAFE_INTEGER };
  try {
    for await (const piece of readContent(source)) content.update(piece);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
  return content.sha256;
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
