import { createHash } from 'node:crypto';
import { crc32, gzipSync, inflateRawSync } from 'node:zlib';
import { closing, discarding } from '../../domain/closing.js';
import { sumOf } from '../../domain/count-of.js';
import { messageOf, type UserError } from '../../domain/errors.js';
import { isLeftOutCode, LEFT_OUT_CODES } from '../../domain/row-codes.js';
import type { Files, ReadFile } from '../../storage/files.js';
import { readWholeLines, splitLines } from '../../storage/split-lines.js';
import {
  decodeRequestLine,
  type FileDigest,
  type Plan,
  type PlanAt,
  type PlannedStep,
  requestsFile,
  rowsFile,
} from './plan-file.js';
import { decodeRowLines, type RowLine } from './row-line.js';
import { planDamaged } from './sealed-json.js';

const CHUNK_BYTES = 1 << 20;

/**
 * The rows of a step, in the order of their file, in batches: in less than half the time of one by one. Throws UserError 'plan-damaged'
 * if the file is missing and, after the last row, if any byte differs from the plan: do not commit results of the rows before that.
 */
export async function* readRowBatches(files: Files, directory: string, step: PlannedStep): AsyncGenerator<RowLine[]> {
  await using file = closing(await openPlanned(files, rowsFile(directory, step), step.files?.rows));
  for await (const lines of readWholeLines(checkAtEnd(file, step.files?.rows))) {
    const rows = decodeRowLines(lines.toString('utf8'), file.path);
    yield rows;
    // Garbage that is old already would keep them.
    rows.length = 0;
  }
}

export type PlannedRowLine = Extract<RowLine, { state: 'planned' }>;

/** The rows of a step that a plan sends, in their order, each with its index among them. */
export async function* readPlannedRows(
  files: Files,
  directory: string,
  planned: PlannedStep,
): AsyncGenerator<{ index: number; row: PlannedRowLine }> {
  let index = 0;
  for await (const row of readRows(files, directory, planned))
    if (row.state === 'planned') yield { index: index++, row };
}

/** Whether a plan omitted a row for now: a retry may take it. */
export function isLeftOut(row: RowLine): row is Extract<RowLine, { state: 'skipped' }> {
  return row.state === 'skipped' && isLeftOutCode(row.skip.code);
}

export function countLeftOut({ skips }: Pick<PlannedStep, 'skips'>): number {
  return sumOf(LEFT_OUT_CODES.map((code) => skips[code] ?? 0));
}

/** All rows of a step, in the order of their file. */
export async function* readRows(files: Files, directory: string, planned: PlannedStep): AsyncGenerator<RowLine> {
  for await (const batch of readRowBatches(files, directory, planned)) yield* batch;
}

/** The requests of a step, in their order; none where it has none. */
export async function* readRequests(
  files: Files,
  directory: string,
  step: PlannedStep,
): AsyncGenerator<ReturnType<typeof decodeRequestLine>> {
  if (step.counts.requests === 0) return;
  await using file = closing(await openPlanned(files, requestsFile(directory, step), step.files?.requests));
  for await (const { bytes } of splitLines(file)) yield decodeRequestLine(bytes, file.path);
}

/** A plan file as it was planned, whether it is packed or not. */
export interface PlannedFile extends ReadFile {
  /** The file that is read: the packed one, if it is packed. */
  readonly path: string;
}

/** Opens a plan file, or its packed one; UserError 'plan-damaged' if it is missing, or its length differs from the plan. */
export async function openPlanned(
  files: Files,
  path: string,
  planned: { readonly bytes: number } | undefined,
): Promise<PlannedFile> {
  const bytes = planned?.bytes ?? 0;
  const file = (await openPlain(files, path)) ?? (await openPacked(files, packedFile(path), bytes));
  if (file === undefined) throw planDamaged(path, 'it does not exist');
  if (file.bytes === bytes) return file;
  await file.close();
  throw planDamaged(file.path, `it has ${file.bytes} bytes`, `expected ${bytes}`);
}

/** Opens the plain file, which counts where both are there. Undefined where it is not there, or was packed just now. */
async function openPlain(files: Files, path: string): Promise<PlannedFile | undefined> {
  if ((await files.stat(path)) === undefined) return undefined;
  try {
    return { ...(await files.openRead(path)), path };
  } catch (error) {
    if ((await files.stat(path)) === undefined) return undefined;
    throw error;
  }
}

async function openPacked(files: Files, path: string, bytes: number): Promise<PlannedFile | undefined> {
  if ((await files.stat(path)) === undefined) return undefined;
  return { ...openUnpacked(await files.openRead(path), path, bytes), path };
}

/** Verifies that the files of a plan are those that its plan.json names, byte for byte. */
export async function assertPlanWhole(files: Files, directory: string, plan: Pick<Plan, 'steps'>): Promise<void> {
  for (const { path, planned } of listFiles(directory, plan))
    await assertWhole(await openPlanned(files, path, planned), planned);
}

/** The files of the steps of a plan; a step without rows has none. */
function listFiles(directory: string, { steps }: Pick<Plan, 'steps'>): { path: string; planned: FileDigest }[] {
  return steps.flatMap((step) => {
    const { files } = step;
    if (files === undefined) return [];
    return [
      { path: requestsFile(directory, step), planned: files.requests },
      { path: rowsFile(directory, step), planned: files.rows },
    ];
  });
}

async function assertWhole(file: PlannedFile, planned: FileDigest): Promise<void> {
  try {
    for await (const _read of readPlanned(file, planned));
  } finally {
    await file.close();
  }
}

/** Reads a file to its end, and gives way after each MiB; UserError 'plan-damaged' if it is not as planned. */
export async function* readPlanned(file: PlannedFile, planned: FileDigest): AsyncGenerator<void> {
  const checked = checkAtEnd(file, planned);
  let at = 0;
  for (let length = -1; length !== 0; at += length) {
    ({ length } = await checked.read(at, CHUNK_BYTES));
    yield;
  }
}

/** Says that a file of requests has another one in the place of this, or none. */
export function requestMissing(path: string, request: number): UserError {
  return planDamaged(path, `request ${request} is not where it should be`);
}

/** Wraps a file that is read from start to end: at the end it throws if the file differs from the plan. */
function checkAtEnd(file: PlannedFile, planned: FileDigest | undefined): ReadFile {
  const hash = createHash('sha256');
  return {
    ...file,
    read: async (offset, length) => {
      const chunk = await file.read(offset, length);
      hash.update(chunk);
      if (chunk.length > 0 || planned === undefined || hash.copy().digest('hex') === planned.sha256) return chunk;
      throw planDamaged(file.path, 'its checksum shows that it was changed');
    },
  };
}

/**
 * A file of a plan, packed. A gzip file (RFC 1952), which `zcat` reads as any other. Each of its members has PIECE_BYTES of
 * the file, the last one what is left of it, and a head of 10 bytes. It is read from start to end; only what was passed can be read
 * again. A name ends in .gz only where the file is whole.
 */
export const PIECE_BYTES = 1 << 18;
/** Level 2 takes no longer than 1 for what plans hold, and less room. */
export const PACKING = { level: 2 } as const;
const HEAD = gzipSync('', PACKING).subarray(0, 10);
/** The end of a member: its CRC-32 and the length of the piece. */
const TAIL_BYTES = 8;
/** Where nothing can be deflated, a member is hardly longer than the piece. */
const MOST_MEMBER_BYTES = PIECE_BYTES + (1 << 10);

function packedFile(path: string): string {
  return `${path}.gz`;
}

/**
 * A packed file as the file of so many bytes that was packed. Throws UserError 'plan-damaged', at the first piece that is damaged or
 * missing, and at the last one where more follows.
 */
export function openUnpacked(packed: ReadFile, path: string, bytes: number): ReadFile {
  const starts = [0];
  let last: { readonly index: number; readonly piece: Buffer } | undefined;

  const unpack = async (index: number): Promise<Buffer> => {
    if (last?.index === index) return last.piece;
    for (let at = Math.min(index, starts.length - 1); ; at += 1) {
      const start = starts[at] ?? 0;
      const [piece, length] = unpackMember(await packed.read(start, MOST_MEMBER_BYTES)) ?? [undefined, 0];
      const left = bytes - at * PIECE_BYTES;
      const isLast = left <= PIECE_BYTES;
      if (piece?.length !== Math.min(PIECE_BYTES, left) || (isLast && start + length !== packed.bytes))
        throw planDamaged(
          path,
          'it is damaged',
          'expected it as Volley packed it (if you packed it yourself, unpack it)',
        );
      starts[at + 1] = start + length;
      last = { index: at, piece };
      if (at === index) return piece;
    }
  };

  return {
    bytes,
    read: async (offset, length) => {
      const parts: Buffer[] = [];
      const end = Math.min(offset + length, bytes);
      for (let at = offset; at < end; ) {
        const piece = await unpack(Math.floor(at / PIECE_BYTES));
        const from = at % PIECE_BYTES;
        const part = piece.subarray(from, from + end - at);
        parts.push(part);
        at += part.length;
      }
      return Buffer.concat(parts);
    },
    close: () => packed.close(),
  };
}

/** The piece of the member that these bytes begin with, and how many of them are its own; undefined where it is damaged. */
function unpackMember(bytes: Buffer): [Buffer, number] | undefined {
  try {
    const options = { info: true, maxOutputLength: PIECE_BYTES } as const;
    // What `info` gives, which its type does not say.
    type Inflated = { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
    const { buffer: piece, engine } = inflateRawSync(bytes.subarray(HEAD.length), options) as unknown as Inflated;
    const end = HEAD.length + engine.bytesWritten;
    const isWhole = bytes.readUInt32LE(end) === crc32(piece) && bytes.readUInt32LE(end + 4) === piece.length;
    return isWhole && bytes.subarray(0, HEAD.length).equals(HEAD) ? [piece, end + TAIL_BYTES] : undefined;
  } catch {
    return undefined;
  }
}

/** Smaller files stay as they are: people can read them, and they take little room. */
const PACK_FROM_BYTES = 1 << 20;

export interface PackedRun extends PlanAt {
  /** The lock of the job: a process that has lost it names and removes no file. */
  readonly lock: { assertHeld(): Promise<void> };
  readonly files: Files;
  readonly packFromBytes?: number | undefined;
  /** Packs a piece; absent: on this thread. */
  readonly gzip?: ((piece: Buffer, options: typeof PACKING) => Promise<Buffer>) | undefined;
  /** One sentence that a person should know. */
  readonly onNotice: (notice: string) => void;
}

/**
 * Packs the files of a plan, which take half of the room of its run, to a sixth, once the run is finished, has its outputs, and the
 * memory of the job has that. In this order, each durable before the next, so that a process may die at any moment:
 *
 *   1. each file is written anew beside it, packed; it gets its name once it is whole
 *   2. it is read back, and compared with the checksums of the plan
 *   3. the plain file is removed
 *
 * Where both are there, the plain one counts. Nothing depends on it: where it fails, the plan stays as it is, and it
 * never throws.
 */
export async function packPlan(run: PackedRun): Promise<void> {
  try {
    // Each to its end: nothing may work on behind the lock.
    const packing = (await listPlain(run)).map((file) => packFile(file, run));
    for (const packed of await Promise.allSettled(packing)) if (packed.status === 'rejected') throw packed.reason;
  } catch (error) {
    run.onNotice(`The files of plan ${run.plan.id} are not packed, and take more room: ${messageOf(error)}`);
  }
}

async function listPlain({ directory, plan, files, packFromBytes = PACK_FROM_BYTES }: PackedRun) {
  const found: ReturnType<typeof listFiles> = [];
  for (const file of listFiles(directory, plan)) {
    if (file.planned.bytes >= packFromBytes && (await files.stat(file.path)) !== undefined) found.push(file);
  }
  return found;
}

async function packFile({ path, planned }: ReturnType<typeof listFiles>[number], run: PackedRun): Promise<void> {
  const { files, lock } = run;
  await writePacked(path, run);
  const packed = await openPacked(files, packedFile(path), planned.bytes);
  if (packed === undefined) throw new Error(`${packedFile(path)} was removed`);
  await assertWhole(packed, planned);
  await lock.assertHeld();
  if ((await files.stat(packedFile(path))) !== undefined) await files.remove(path);
}

async function writePacked(path: string, { files, lock, gzip }: PackedRun): Promise<void> {
  const pack = gzip ?? (async (piece: Buffer) => gzipSync(piece, PACKING));
  await using plain = closing(await files.openRead(path));
  await using packed = discarding(await files.createWhole(packedFile(path)));
  for (let at = 0; at < plain.bytes; at += PIECE_BYTES)
    await packed.write(await pack(await plain.read(at, PIECE_BYTES), PACKING));
  await lock.assertHeld();
  await packed.finish();
}
