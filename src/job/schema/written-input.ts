import { z } from 'zod';
import { DEFAULT_READ_LIMITS } from '../defaults.js';
import { columnName, count, countryCode, encodingLabel, pathText } from './values.js';

const files = z
  .union([pathText(), z.array(pathText()).min(1)], { error: 'expected a path or a list of paths' })
  .describe(
    'Files to read: paths or globs (*.csv), relative to the job file; "-" is standard input. *.gz is unpacked.',
  );

const readLimits = z
  .strictObject({
    maxFieldBytes: count().default(DEFAULT_READ_LIMITS.maxFieldBytes).describe('Longest field, in bytes.'),
    maxColumns: count().default(DEFAULT_READ_LIMITS.maxColumns).describe('Most columns of a file.'),
    maxLineBytes: count()
      .default(DEFAULT_READ_LIMITS.maxLineBytes)
      .describe('Longest line, in bytes; for CSV the whole record, which may span lines.'),
    maxFileBytes: count()
      .default(DEFAULT_READ_LIMITS.maxFileBytes)
      .describe('Longest file, in bytes, after it was unpacked.'),
  })
  .describe('Bounds of what is read. A file beyond them is refused.');

/** Files, and how they are to be read. The same for the rows of a step and for a suppression list. */
export const writtenInput = z
  .strictObject({
    files,
    format: z
      .enum(['csv', 'ndjson'])
      .optional()
      .describe('By the name when not given: .ndjson and .jsonl are NDJSON, all else CSV.'),
    encoding: encodingLabel()
      .optional()
      .describe('Encoding of the files; a byte order mark, else strict UTF-8, when not given.'),
    delimiter: z
      .enum([',', ';', '\t', '|', 'tab'])
      .optional()
      .describe('What stands between the fields of a CSV file; found from the header when not given.'),
    country: countryCode()
      .optional()
      .describe('Two-letter country that numbers without + are read in, when the row does not say.'),
    countryColumn: columnName().optional().describe('Column that names the country row by row; goes before country.'),
    limits: readLimits.prefault({}),
  })
  .describe('The files to read, and how.');
