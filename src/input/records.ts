import type { Input } from '../job/job.js';
import { CsvReader } from './csv/csv-reader.js';
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

export function formatOf(file: InputFile, input: Input): InputFile['format'] {
  return input.format ?? file.format;
}
