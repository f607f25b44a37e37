import { join } from 'node:path';
import { UserError } from '../../domain/errors.js';
import type { InputFile } from '../../input/inputs.js';
import type { SuppressionLists } from '../../job/job.js';
import type { Files } from '../../storage/files.js';
import type { InputReader } from '../plan-deps.js';

/** The files of a list; standard input is not among them. Refuses what names no file: a list may not be empty. */
export async function listSuppression(
  { files: patterns, format, isOptOuts }: SuppressionLists,
  directory: string,
  { reader, files }: { reader: Pick<InputReader, 'listInputs'>; files: Pick<Files, 'stat'> },
): Promise<InputFile[]> {
  const named = patterns.filter((pattern) => pattern !== '-');
  const paths = isOptOuts === true ? await Promise.all(named.map((path) => findOptOuts(path, files))) : named;
  const found = paths.length === 0 ? [] : await reader.listInputs(paths, directory);
  const key = isOptOuts === true ? 'optOuts' : 'suppress';
  return found.map((file) => ({ ...file, key, ...(format === undefined ? {} : { format }) }));
}

/** Of a directory its CSV files. */
async function findOptOuts(path: string, files: Pick<Files, 'stat'>): Promise<string> {
  const found = await files.stat(path);
  if (found?.isDirectory === true) return join(path, '*.csv');
  if (found !== undefined) return path;
  throw new UserError(
    'bad-input',
    'the list of opt-outs does not exist, expected a file, or a directory of CSV files',
    {
      hint: '`volley listen --opt-outs` with its path begins it, and so does `volley people opt-out`.',
    },
  );
}

/** For problems: the key of the job. */
export function keyOfLists({ isOptOuts }: SuppressionLists): 'optOuts' | 'suppress' {
  return isOptOuts === true ? 'optOuts' : 'suppress';
}
