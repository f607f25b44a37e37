import { statSync } from 'node:fs';
import type { Input } from '../../job/job.js';
import type { InputFile } from '../inputs.js';
import type { RecordReader } from '../record-reader.js';
import { formatOf, readRecords } from '../records.js';
import { canReadInThread, ThreadedCsvReader } from './threaded-csv.js';

/** A smaller file is read before a thread has started. */
const THREAD_BYTES = 4 * 1024 * 1024;

/** Like `readRecords`, but a thread of its own reads a large CSV ahead of the consumer. */
export function readRecordsAhead(file: InputFile, input: Input): RecordReader {
  const isLarge = (statSync(file.path, { throwIfNoEntry: false })?.size ?? 0) >= THREAD_BYTES;
  const isAhead = isLarge && formatOf(file, input) === 'csv' && canReadInThread();
  return isAhead ? new ThreadedCsvReader(file, input) : readRecords(file, input);
}
