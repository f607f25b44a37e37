import { join } from 'node:path';
import type { Plan } from '../plan/format/plan-file.js';
import type { Files } from '../storage/files.js';

/** In the run directory of a sandbox run that kept posts back: `{ format: 1, notDelivered }`. */
export const SANDBOX_FILE = 'sandbox.json';

/** Adds the undelivered posts of one process; those of a killed process are not counted. */
export async function addNotDelivered(files: Files, directory: string, posts: number): Promise<void> {
  if (posts === 0) return;
  const before = (await readCount(files, directory)) ?? 0;
  const text = JSON.stringify({ format: 1, notDelivered: before + posts });
  await files.writeWhole(join(directory, SANDBOX_FILE), `${text}\n`);
}

/** Receipts and events that the embedded sandbox kept because their address is outside this machine; null for any other run. */
export async function readNotDelivered(files: Files, directory: string, { job }: Plan): Promise<number | null> {
  return job.service.sandbox ? readCount(files, directory) : null;
}

/** 0 without the file, null if it is damaged. */
async function readCount(files: Files, directory: string): Promise<number | null> {
  const text = await files.readText(join(directory, SANDBOX_FILE));
  if (text === undefined) return 0;
  const count = /"notDelivered":(\d{1,15})\}/.exec(text)?.[1];
  return count === undefined ? null : Number(count);
}
