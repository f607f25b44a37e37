import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expandPage, type LedgerEntry } from '../../src/sandbox/ledger.js';
import { aFolder } from '../plan/a-plan.js';
import { ROOT } from './dockerfile.js';

/** Jobs and samples in a directory of their own, where the output goes too; gone after the file. */
export function copyExamples(): string {
  const directory = aFolder();
  for (const folder of ['jobs', 'samples']) cpSync(`${ROOT}${folder}`, join(directory, folder), { recursive: true });
  return directory;
}

/** What the sandbox of a job holds, by its own file: behind its first line, a page for each request. */
export function readLedgerOf(directory: string, job: string): LedgerEntry[] {
  const text = readFileSync(join(directory, `out/${job}/sandbox/ledger.ndjson`), 'utf8');
  const [, ...pages] = text.trimEnd().split('\n');
  return pages.flatMap((page) => [...expandPage(JSON.parse(page))]);
}
