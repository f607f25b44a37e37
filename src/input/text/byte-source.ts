import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { closing, discarding } from '../../domain/closing.js';
import { UserError } from '../../domain/errors.js';
import { nodeFiles } from '../../storage/files.js';
import type { InputFile } from '../inputs.js';
import { describeDiskError, refuse, refuseUnreadable } from '../record-reader.js';

/** Bytes read from disk at a time; csv-parse is fastest with pieces of this size. */
const PIECE_BYTES = 256 * 1024;

/** Bytes so far. */
export class Digest {
  readonly #hash = createHash('sha256');
  bytes = 0;

  update(piece: Uint8Array): void {
    this.#hash.update(piece);
    this.bytes += piece.length;
  }

  /** The digest of the bytes so far, in lower-case hex. */
  get sha256(): string {
    return this.#hash.copy().digest('hex');
  }
}

/** The bytes of a file as they are on disk, in pieces of 256 KB. Refuses a file that cannot be read. */
export async function* readPieces(path: string, shown: string, digest?: Digest): AsyncGenerator<Buffer> {
  try {
    for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
      digest?.update(piece);
      yield piece;
    }
  } catch (error) {
    throw refuseUnreadable(shown, error);
  }
}

/** SHA-256 over the bytes on disk, compressed as they are. */
export async function digestInput(path: string): Promise<{ sha256: string; bytes: number }> {
  const digest = new Digest();
  for await (const _piece of readPieces(path, basename(path), digest));
  return { sha256: digest.sha256, bytes: digest.bytes };
}

/** A file, and how many bytes of content it may have. */
export interface ByteSource extends Pick<InputFile, 'path' | 'shown' | 'key'> {
  readonly maxFileBytes: number;
}

const UNPACKED_PIECE_BYTES = 256 * 1024;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
/** `PK`: a ZIP archive, which is what a workbook is. */
export const ZIP_MAGIC = Buffer.from('PK\u0003\u0004', 'latin1');
/** Begins what older programs write, and a workbook with a password. */
export const OLE_MAGIC = Buffer.from([0xd0, 0xcf, 0x11, 0xe0]);

/**
 * The content of a file, unpacked when it is gzip by name or by its first bytes; `digest` sees the bytes on disk.
 * Refuses a gzip file that is cut off, damaged or followed by something else, and content beyond `maxFileBytes`.
 */
export async function* readContent(source: ByteSource, digest = new Digest()): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of unpackWhenPacked(source, digest)) {
    bytes += piece.length;
    if (bytes > source.maxFileBytes) {
      throw refuse({
        where: source.shown,
        message: `it holds more than ${source.maxFileBytes} bytes of content, expected at most that many`,
        hint: 'Split the file, or raise limits.maxFileBytes where the job names the file.',
      });
    }
    yield piece;
  }
}

async function* unpackWhenPacked(source: ByteSource, digest: Digest): AsyncGenerator<Buffer> {
  const pieces = readPieces(source.path, source.shown, digest);
  try {
    const first = await pieces.next();
    const head = first.done === true ? Buffer.alloc(0) : first.value;
    if (startsWith(head, ZIP_MAGIC) || startsWith(head, OLE_MAGIC)) throw refuseWorkbook(source.shown);
    const content = prepend(head, pieces);
    yield* isPacked(source.path, head) ? unpack(content, source.shown, digest) : content;
  } finally {
    await pieces.return(undefined);
  }
}

/** Whether a file is gzip, by its name or its first bytes. */
export function isPacked(path: string, head: Buffer): boolean {
  return /\.gz$/i.test(path) || startsWith(head, GZIP_MAGIC);
}

/** The pieces behind a head that was read of them. */
export async function* prepend(head: Buffer, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* pieces;
}

async function* unpack(pieces: AsyncIterable<Buffer>, shown: string, digest: Digest): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: UNPACKED_PIECE_BYTES });
  let isReadToEnd = false;
  const watched = async function* () {
    yield* pieces;
    isReadToEnd = true;
  };
  // The stream's own error is thrown by the loop below; the callback is what keeps it from being unhandled.
  pipeline(watched, gunzip, () => {});
  try {
    for await (const piece of gunzip) yield piece;
  } catch (error) {
    throw isGzipError(error) ? refuseGzip(shown, describeGzipError(error)) : error;
  }
  // The library stops at padding, and would silently omit what follows.
  if (!isReadToEnd || gunzip.bytesWritten !== digest.bytes) {
    throw refuseGzip(shown, `something else follows its end at byte ${gunzip.bytesWritten}`);
  }
}

function isGzipError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
}

function describeGzipError(error: Error & { code: string }): string {
  if (error.code === 'Z_BUF_ERROR') return 'the gzip file ends in the middle';
  return /header|compression method/.test(error.message)
    ? 'it is not a gzip file, or something else follows its end'
    : `the gzip file is damaged (${error.message})`;
}

function refuseGzip(shown: string, reason: string) {
  return refuse({
    where: shown,
    message: `${reason}, expected a whole gzip file`,
    hint: `Test it with \`gzip -t\` and fetch it again.`,
  });
}

function refuseWorkbook(shown: string) {
  return refuse({
    where: shown,
    message: 'it is a workbook or an archive, expected CSV, NDJSON, or a workbook whose name ends in .xlsx',
    hint: 'Open it in a spreadsheet program, and save it as .xlsx or as "CSV UTF-8".',
  });
}

/** The beginning of pieces, as far as it is enough, or all of them. */
export async function takeHead(pieces: AsyncIterator<Buffer>, isEnough: (head: Buffer) => boolean): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (!isEnough(head)) {
    const next = await pieces.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  return head;
}

export function startsWith(bytes: Buffer, magic: Buffer): boolean {
  return bytes.subarray(0, magic.length).equals(magic);
}

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
  await using file = closing(await open(path, 'r'));
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  return buffer.subarray(0, bytesRead);
}

/**
 * Writes a stream, such as standard input, to `path` (mode 0600), durable and whole or not at all. Refuses a stream
 * that breaks off; disk errors are thrown unchanged.
 */
export async function spoolInput(stream: AsyncIterable<Uint8Array | string>, path: string): Promise<void> {
  await using file = discarding(await nodeFiles.createWhole(path));
  for await (const piece of readStream(stream)) await file.write(piece);
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
