import type { Input } from '../job/job.js';
import { CsvReader } from './csv.js';
import type { InputFile } from './inputs.js';
import { NdjsonReader } from './ndjson.js';
import type { RecordReader } from './reader.js';

/** A reader over one file, in the format that the job states or else its name says; nothing is read before `open`. */
export function readRecords(file: InputFile, input: Input): RecordReader {
  const format = input.format ?? file.format;
  return format === 'ndjson' ? new NdjsonReader(file, input) : new CsvReader(file, input);
}
