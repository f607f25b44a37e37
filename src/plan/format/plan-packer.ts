import { gzipSync } from 'node:zlib';
import type { Files } from '../../storage/files.js';
import { type FileDigest, type PlanAt, type PlannedStep, requestsFile, rowsFile } from './plan-file.js';
import { openPacked, PACKING, PIECE_BYTES, packedFile, readPlanned } from './planned-files.js';

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
 * Where both are there, the plain one counts (planned-files.ts). Nothing depends on it: where it fails, the plan stays as it is, and it
 * never throws.
 */
export async function packPlan(run: PackedRun): Promise<void> {
  try {
    // Each to its end: nothing may work on behind the lock.
    const packing = (await listPlain(run)).map((file) => packFile(file, run));
    for (const packed of await Promise.allSettled(packing)) if (packed.status === 'rejected') throw packed.reason;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    run.onNotice(`The files of plan ${run.plan.id} are not packed, and take more room: ${why}`);
  }
}

interface PlainFile {
  readonly path: string;
  readonly planned: FileDigest;
}

async function listPlain({ directory, plan, files, packFromBytes = PACK_FROM_BYTES }: PackedRun): Promise<PlainFile[]> {
  const found: PlainFile[] = [];
  for (const file of plan.steps.flatMap((step) => listFiles(directory, step))) {
    if (file.planned.bytes >= packFromBytes && (await files.stat(file.path)) !== undefined) found.push(file);
  }
  return found;
}

/** Lists the files of a step; a step without rows has none. */
function listFiles(directory: string, step: PlannedStep): PlainFile[] {
  const { files } = step;
  if (files === undefined) return [];
  return [
    { path: requestsFile(directory, step), planned: files.requests },
    { path: rowsFile(directory, step), planned: files.rows },
  ];
}

async function packFile({ path, planned }: PlainFile, run: PackedRun): Promise<void> {
  const { files, lock } = run;
  await writePacked(path, run);
  const packed = await openPacked(files, packedFile(path), planned.bytes);
  if (packed === undefined) throw new Error(`${packedFile(path)} was removed`);
  try {
    for await (const _read of readPlanned(packed, planned));
  } finally {
    await packed.close();
  }
  await lock.assertHeld();
  if ((await files.stat(packedFile(path))) !== undefined) await files.remove(path);
}

async function writePacked(path: string, { files, lock, gzip }: PackedRun): Promise<void> {
  const pack = gzip ?? (async (piece: Buffer) => gzipSync(piece, PACKING));
  const plain = await files.openRead(path);
  try {
    const packed = await files.createWhole(packedFile(path));
    try {
      for (let at = 0; at < plain.bytes; at += PIECE_BYTES)
        await packed.write(await pack(await plain.read(at, PIECE_BYTES), PACKING));
      await lock.assertHeld();
      await packed.finish();
    } catch (error) {
      await packed.discard().catch(() => {});
      throw error;
    }
  } finally {
    await plain.close();
  }
}
