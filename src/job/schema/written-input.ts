import { z } from 'zod';
import { age, columnName, count, countryCode, delimiter, encodingLabel, pathText } from './values.js';
import { expected } from './words.js';
import { writtenWhere } from './written-where.js';

const files = z
  .union([pathText(), z.array(pathText()).min(1)], { error: expected('a path or a list of paths') })
  .describe('Files to read: paths or globs (*.csv), relative to the job file; "-" is standard input. *.gz is unpacked.')
  .transform((written) => [written].flat());

const MIB = 1024 * 1024;

/** Volley's choice: generous for exported files, small enough that one bad file cannot exhaust memory. */
export const readLimits = z
  .strictObject({
    maxFieldBytes: count().default(MIB).describe('Longest field, in bytes.'),
    maxColumns: count().default(1000).describe('Largest number of columns in a file.'),
    maxLineBytes: count()
      .default(16 * MIB)
      .describe('Longest line, in bytes; for CSV the whole record, which may span lines.'),
    maxFileBytes: count()
      .default(64 * 1024 * MIB)
      .describe('Longest file, in bytes, after unpacking.'),
  })
  .describe('Limits for what is read. A file that exceeds them is refused.');

export const DEFAULT_READ_LIMITS = readLimits.parse({});

/** Files, and how they are to be read: those of a suppression list. */
export const writtenList = z
  .strictObject({
    files,
    format: z
      .enum(['csv', 'ndjson', 'xlsx'])
      .optional()
      .describe(
        'By default, the file name decides: .ndjson, .jsonl and .json are NDJSON, .xlsx and .xlsm are workbooks, all others CSV.',
      ),
    sheet: z
      .string()
      .min(1)
      .optional()
      .describe('Name of the sheet of a workbook; by default the only one that holds rows.'),
    encoding: encodingLabel()
      .optional()
      .describe('Encoding of the files. By default that of the byte order mark, or else strict UTF-8.'),
    delimiter: delimiter()
      .optional()
      .describe('What separates the fields of a CSV file; by default it is detected from the header.'),
    country: countryCode()
      .optional()
      .describe('Two-letter country code for numbers without +, if the row does not name a country.'),
    countryColumn: columnName()
      .optional()
      .describe('Column with the country of each row; takes precedence over country.'),
    limits: readLimits.prefault({}),
  })
  .describe('The files to read, and how.');

export const writtenSuppression = writtenList.extend({
  column: columnName()
    .optional()
    .describe('Column with the numbers. By default each column that holds numbers counts.'),
});

/** The rows of a step. */
export const writtenInput = writtenList
  .extend({
    where: writtenWhere.optional().describe('Which rows take part; the others are skipped.'),
    required: z
      .boolean()
      .optional()
      .describe(
        'Whether it is a failure (exit code 2) if there is no file that the job has not taken yet, or none of them has a row.',
      ),
    newerThan: age()
      .optional()
      .describe(
        'The newest file may be so old: hours, days or weeks, such as 26h. If it is older, nothing is planned (exit code 2).',
      ),
    whenDone: z
      .strictObject({
        moveTo: pathText().describe('Directory, relative to the job file; it is made if it is missing.'),
      })
      .optional()
      .describe('Where the files go once the run that took them is finished.'),
  })
  .describe('The rows of the step.');
