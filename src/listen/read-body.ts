import type { Readable } from 'node:stream';

/** What Node takes for each piece of a body beside its bytes: a sender may cut a body into pieces of one byte. */
const CHUNK_BYTES = 256;

export interface BodyLimits {
  readonly maxBytes: number;
  /** Asked before bytes are kept; false refuses them. */
  readonly hold: (bytes: number) => boolean;
}

/** Reads a body to its end, or leaves the rest unread. Throws when the connection ends first. */
export async function readBody(
  body: Readable,
  { maxBytes, hold }: BodyLimits,
): Promise<Buffer | 'too-large' | 'no-room'> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Destroyed, the stream would take the connection with it, and the answer.
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > maxBytes) return 'too-large';
    if (!hold(chunk.length + CHUNK_BYTES)) return 'no-room';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
