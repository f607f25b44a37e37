import { constants } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { describeDisk, isDiskError } from '../command/disk-error.js';
import { closing, discarding } from '../domain/closing.js';
import type { Files } from '../storage/files.js';

/** The size of a slice that a browser sends: below what proxies take by default. */
export const SLICE_BYTES = 900_000;
const MOST_BYTES = 20_000_000_000;

/** A file on its way into a campaign. Its name there is that which it had, without what could lead elsewhere. */
export interface Upload {
  readonly name: string;
  readonly bytes: number;
}

/** What a person called their file; undefined where no file can be called so. */
export function readFileName(written: unknown): string | undefined {
  const name = String(written ?? '')
    .split(/[\\/]/)
    .at(-1)
    ?.replace(/[\p{Cc}\p{Cf}]+/gu, '')
    .trim();
  if (name === undefined || name === '' || name.startsWith('.') || Buffer.byteLength(name) > 200) return undefined;
  return /\.(?:csv|tsv|txt|ndjson|jsonl?|xls[xm])(?:\.gz)?$/i.test(name) ? name : undefined;
}

export function readSize(written: unknown): number | undefined {
  const bytes = Number(written);
  return /^\d{1,11}$/.test(String(written)) && bytes > 0 && bytes <= MOST_BYTES ? bytes : undefined;
}

/**
 * Why a path that a person wrote is no file for them; undefined where it is one. `within`: the directory that a team has its files in. What else
 * the machine has, such as keys, is none of its people's.
 */
export async function refusePath(files: Files, path: string, within?: string): Promise<string | undefined> {
  if (!isAbsolute(path)) return 'Give the whole path of the file, from / on';
  if (within !== undefined && (readFileName(path) === undefined || !resolve(path).startsWith(join(within, '/'))))
    return `Choose a file below ${within} that is called as a file of people is, such as people.csv`;
  try {
    return (await files.stat(path))?.isFile === true ? undefined : `There is no file ${path}`;
  } catch (error) {
    if (!isDiskError(error)) throw error;
    return describeDisk(error).message;
  }
}

export async function findUploaded(files: Files, directory: string, upload: Upload): Promise<number> {
  return (await files.stat(partOf(directory, upload)))?.bytes ?? 0;
}

/**
 * Takes the slice that begins where the upload ends. Returns how much is here then: after a slice from anywhere else, such as one that was
 * sent twice, what was here before; after the last one, the name that the file has then.
 */
export async function takeSlice(
  files: Files,
  directory: string,
  { upload, offset, slice }: { upload: Upload; offset: number; slice: Uint8Array },
): Promise<{ readonly has: number; readonly name?: string }> {
  const part = partOf(directory, upload);
  const had = await findUploaded(files, directory, upload);
  if (offset !== had || offset + slice.length > upload.bytes) return { has: had };
  // A slice is written at its place: where it came twice at once, the second changes nothing.
  await using file = closing(await open(part, constants.O_RDWR | constants.O_CREAT, 0o600));
  await file.write(slice, 0, slice.length, offset);
  const has = offset + slice.length;
  if (has < upload.bytes) return { has };
  await file.sync();
  await file.close();
  const path = await findFree(files, join(directory, upload.name));
  await rename(part, path);
  return { has, name: basename(path) };
}

/** `people-2.csv` where there is a `people.csv`, which a run that stopped, or a plan that waits, may need as it is. */
export async function findFree(files: Files, path: string): Promise<string> {
  let free = path;
  for (let n = 2; (await files.stat(free)) !== undefined; n++)
    free = path.replace(/(?:\.\w+(?:\.gz)?)?$/i, (end) => `-${n}${end}`);
  return free;
}

type Pieces = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/** A file of these pieces in the place of one of that name, whole or not at all. */
export async function writePieces(files: Files, path: string, pieces: Pieces): Promise<void> {
  await files.makeDirectory(dirname(path));
  await using file = discarding(await files.createWhole(path));
  for await (const piece of pieces) await file.write(piece);
  await file.finish();
}

function partOf(directory: string, { name, bytes }: Upload): string {
  return join(directory, `.${name}.${bytes}.part`);
}
