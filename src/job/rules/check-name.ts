import { JOB_NAME } from '../defaults.js';
import { type Finding, valueAt } from '../explain/finding.js';

const EXPECTED = 'expected up to 64 of a-z 0-9 . _ - that begin with a letter or digit';

/**
 * A job without a name takes that of its file, which must then be valid; an invalid name gets the nearest valid one as
 * a hint.
 */
export function checkName(job: unknown, fileName: string): Finding[] {
  const written = valueAt(job, ['name']);
  if (written === undefined && !JOB_NAME.test(fileName)) {
    const message = `name is missing, and the file's name cannot be used: ${EXPECTED}`;
    return [{ at: ['name'], message, hint: `Write name: ${suggestName(fileName)}.` }];
  }
  if (typeof written === 'string' && written !== '' && !JOB_NAME.test(written)) {
    const message = `name cannot be the name of a directory, ${EXPECTED}`;
    return [{ at: ['name'], message, hint: `Write name: ${suggestName(written)}.` }];
  }
  return [];
}

/** The nearest valid name for a job. */
export function suggestName(text: string): string {
  const name = text
    .slice(0, 64)
    .normalize('NFD')
    .toLowerCase()
    .replace(/\p{Mn}/gu, '')
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  return name === '' ? 'spring-sale' : name;
}
