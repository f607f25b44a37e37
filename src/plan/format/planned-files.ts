import { crc32 } from 'node:zlib';
import type { Files, ReadFile } from '../../storage/files.js';
import { readWholeLines, splitLines } from '../../storage/split-lines.js';
import { planDamaged } from './plan-damaged.js';
import { type Plan, type PlannedStep, requestsFile, rowsFile } from './plan-file.js';
import { decodeRowLines, type RowLine } from './row-line.js';

const CHUNK_BYTES = 1 << 20;

/**
 * The lines of a step's rows file, in their order, without their newlines. Throws UserError 'plan-damaged' if the file
 * is missing and, after the last line, if any byte differs from the plan: do not commit results of the lines before
 * that.
 */
export async function* readRowLines(files: Files, directory: string, step: PlannedStep): AsyncGenerator<Buffer> {
  const path = rowsFile(directory, step);
  const file = await openPlanned(files, path);
  try {
    for await (const { bytes } of splitLines(checkAtEnd(file, path, step.files?.rows))) yield bytes;
  } finally {
    await file.close();
  }
}

/** The same as rows, in batches: in less than half the time of one by one. */
export async function* readRowBatches(files: Files, directory: string, step: PlannedStep): AsyncGenerator<RowLine[]> {
  const path = rowsFile(directory, step);
  const file = await openPlanned(files, path);
  try {
    for await (const lines of readWholeLines(checkAtEnd(file, path, step.files?.rows))) {
      yield decodeRowLines(lines.toString('utf8'), path);
    }
  } finally {
    await file.close();
  }
}

/** Opens a plan file; UserError 'plan-damaged' if it is missing, or its length differs from the plan. */
export async function openPlanned(files: Files, path: string, planned?: { readonly bytes: number }): Promise<ReadFile> {
  if ((await files.stat(path)) === undefined) throw planDamaged(path, 'it does not exist');
  const file = await files.openRead(path);
  if (planned === undefined || file.bytes === planned.bytes) return file;
  await file.close();
  throw planDamaged(path, `it has ${file.bytes} bytes`, `expected ${planned.bytes}`);
}

/** Verifies the rows files of a plan, and the length of its requests files, whose lines are checked when sent. */
export async function assertPlanWhole(files: Files, directory: string, plan: Pick<Plan, 'steps'>): Promise<void> {
  for (const step of plan.steps) {
    if (step.files === undefined) continue;
    const requests = await openPlanned(files, requestsFile(directory, step), step.files.requests);
    await requests.close();
    const path = rowsFile(directory, step);
    const rows = await openPlanned(files, path, step.files.rows);
    try {
      const checked = checkAtEnd(rows, path, step.files.rows);
      let at = 0;
      for (let length = -1; length !== 0; at += length) ({ length } = await checked.read(at, CHUNK_BYTES));
    } finally {
      await rows.close();
    }
  }
}

export function formatCrc32(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}

/** The same file, for reading from start to end: at the end it throws if it differs from the plan. */
function checkAtEnd(
  file: ReadFile,
  path: string,
  planned: { readonly bytes: number; readonly crc32: string } | undefined,
): ReadFile {
  let crc = 0;
  let bytes = 0;
  return {
    ...file,
    read: async (offset, length) => {
      const chunk = await file.read(offset, length);
      crc = crc32(chunk, crc);
      bytes += chunk.length;
      if (chunk.length > 0 || planned === undefined) return chunk;
      if (bytes === planned.bytes && formatCrc32(crc) === planned.crc32) return chunk;
      throw planDamaged(path, 'its checksum shows that it was changed');
    },
  };
}
