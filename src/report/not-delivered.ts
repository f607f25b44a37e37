import { join } from 'node:path';
import type { Plan } from '../plan/format/plan-file.js';
import type { Files } from '../storage/files.js';

/** In the run directory, of a run on the embedded sandbox that kept something back: `{ format: 1, notDelivered }`. */
export const SANDBOX_FILE = 'sandbox.json';

/** Adds what the sandbox of one process did not deliver. What a process that was killed had kept back is not in it. */
export async function addNotDelivered(files: Files, directory: string, posts: number): Promise<void> {
  if (posts === 0) return;
  const before = (await readCount(files, directory)) ?? 0;
  const text = JSON.stringify({ format: 1, notDelivered: before + posts });
  await files.writeWhole(join(directory, SANDBOX_FILE), `${text}\n`);
}

/** Receipts and events that the embedded sandbox kept, as their address is outside of this machine; null for a run that was not on it. */
export async function readNotDelivered(files: Files, directory: string, { job }: Plan): Promise<number | null> {
  return job.service.sandbox ? readCount(files, directory) : null;
}

/** 0 without the file, null where it is not as it was written. */
async function readCount(files: Files, directory: string): Promise<number | null> {
  const text = await files.readText(join(directory, SANDBOX_FILE));
  if (text === undefined) return 0;
  const count = /"notDelivered":(\d{1,15})\}/.exec(text)?.[1];
  return count === undefined ? null : Number(count);
}
