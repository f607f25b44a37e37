import { nodeFiles } from '../storage/files.js';
import { describeDiskError, refuse } from './refusal.js';

/**
 * Writes a stream, such as standard input, to `path` (mode 0600), durable and whole or not at all. Refuses a stream
 * that breaks off; disk errors are thrown unchanged.
 */
export async function spoolInput(stream: AsyncIterable<Uint8Array | string>, path: string): Promise<void> {
  const file = await nodeFiles.createWhole(path);
  try {
    for await (const piece of readStream(stream)) await file.write(piece);
  } catch (error) {
    await file.discard();
    throw error;
  }
  await file.finish();
}

async function* readStream(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array | string> {
  try {
    yield* stream;
  } catch (error) {
    const reason = describeDiskError(error) ?? 'it broke off before its end';
    throw refuse({ where: 'standard input', message: `${reason}, expected all of it` });
  }
}
