import { resolve } from 'node:path';
import type { Input } from './job.js';
import { fillWhere } from './schema/fill-where.js';
import type { CheckedInput } from './schema/written-job.js';

/** Files as a list with absolute paths, names of countries and encodings in one case. */
export function fillInput(written: CheckedInput, directory: string): Input {
  const { where } = written;
  const files = typeof written.files === 'string' ? [written.files] : written.files;
  return {
    files: files.map((file) => fillPattern(file, directory)),
    format: written.format,
    encoding: written.encoding?.trim().toLowerCase(),
    delimiter: written.delimiter === 'tab' ? '\t' : written.delimiter,
    country: written.country?.toUpperCase(),
    countryColumn: written.countryColumn,
    ...(where === undefined ? {} : { where: fillWhere(where) }),
    limits: written.limits,
  };
}

/** A glob stays one; a directory name with * or [ is resolved by the reader, which sees the disk. */
function fillPattern(file: string, directory: string): string {
  return file === '-' ? file : resolve(directory, file);
}
