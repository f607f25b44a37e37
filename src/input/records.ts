import { statSync } from 'node:fs';
import type { Input, RowStep } from '../job/job.js';
import { CsvReader } from './csv/csv-reader.js';
import { canReadInThread, ThreadedCsvReader } from './fast/threaded-csv.js';
import type { InputFile } from './inputs.js';
import { NdjsonReader } from './ndjson/ndjson-reader.js';
import type { RecordReader } from './record-reader.js';
import { XlsxReader } from './xlsx/xlsx-reader.js';

/** A reader over one file, in the format that the job states or else its name says; nothing of its content is read before `open`. */
export function readRecords(file: InputFile, input: Input): RecordReader {
  switch (formatOf(file, input)) {
    case 'csv':
      return new CsvReader(file, input);
    case 'ndjson':
      return new NdjsonReader(file, input);
    case 'xlsx':
      return new XlsxReader(file, input);
  }
}

function formatOf(file: InputFile, input: Input): InputFile['format'] {
  return input.format ?? file.format;
}

/** A smaller file is read before a thread has started. */
const THREAD_BYTES = 4 * 1024 * 1024;

/** Like `readRecords`, but a thread of its own reads a large CSV ahead of the consumer, and drafts its rows for a step. */
export function readRecordsAhead(file: InputFile, input: Input, step?: RowStep): RecordReader {
  const isLarge = (statSync(file.path, { throwIfNoEntry: false })?.size ?? 0) >= THREAD_BYTES;
  const isAhead = isLarge && formatOf(file, input) === 'csv' && canReadInThread();
  return isAhead ? new ThreadedCsvReader(file, input, step) : readRecords(file, input);
}
