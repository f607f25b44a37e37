import { readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSealed, sealJson } from '../../src/plan/format/sealed-json.js';
import type { MemoryDocument } from '../../src/registry/memory-file.js';

/** Names of the files that hold the memory of a job, the one that counts last. */
export function memoriesAmong(names: readonly string[]): string[] {
  return names.filter((name) => /^memory-\d+\.json$/.test(name)).sort();
}

/** The file that counts. */
export function memoryIn(jobDirectory: string): string {
  const name = memoriesAmong(readdirSync(jobDirectory)).at(-1);
  if (name === undefined) throw new Error(`there is no memory in ${jobDirectory}`);
  return join(jobDirectory, name);
}

export function readMemoryIn(jobDirectory: string): MemoryDocument {
  return readSealed(readFileSync(memoryIn(jobDirectory), 'utf8'));
}

export function removeMemory(jobDirectory: string): void {
  for (const name of memoriesAmong(readdirSync(jobDirectory))) unlinkSync(join(jobDirectory, name));
}

/** Changes the memory as somebody would who knows its digest. */
export function forgeMemory(jobDirectory: string, change: (document: MemoryDocument) => object): void {
  writeFileSync(memoryIn(jobDirectory), sealJson(change(readMemoryIn(jobDirectory))));
}
