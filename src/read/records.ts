import { statSync } from 'node:fs';
import type { Input } from '../job/job.js';
import { CsvReader } from './csv.js';
import type { InputFile } from './inputs.js';
import { NdjsonReader } from './ndjson.js';
import type { RecordReader } from './reader.js';
import { canReadInThread, ThreadedCsvReader } from './threaded-csv.js';

/** A smaller file is read before a thread has started. */
const THREAD_BYTES = 4 * 1024 * 1024;

/** A reader over one file, in the format that the job states or else its name says; nothing of its content is read before `open`. */
export function readRecords(file: InputFile, input: Input): RecordReader {
  const format = input.format ?? file.format;
  if (format === 'ndjson') return new NdjsonReader(file, input);
  const bytes = statSync(file.path, { throwIfNoEntry: false })?.size ?? 0;
  return bytes >= THREAD_BYTES && canReadInThread() ? new ThreadedCsvReader(file, input) : new CsvReader(file, input);
}
