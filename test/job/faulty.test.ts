import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatError } from '../../src/command/failure.js';
import { KINDS, ROW_KINDS } from '../../src/domain/areas.js';
import { UserError } from '../../src/domain/errors.js';
import { parseJob } from '../../src/job/load.js';

/**
 * Faulty job files, and beside each what is said of it. A file holds several jobs: a line `#=== title` begins each.
 * `npx vitest run test/job/faulty.test.ts -u` writes what is said now; read what git shows then.
 */
const DIRECTORY = join(import.meta.dirname, 'faulty');
const ALL_KINDS = Object.keys(KINDS).join(', ');
const KINDS_WITH_ROWS = Object.keys(ROW_KINDS).join(', ');
const NAMES = readdirSync(DIRECTORY).filter((name) => name.endsWith('.yaml'));

/** Each problem with its place and its hint. What the whole says around them: test/command. */
function check(text: string): string {
  try {
    parseJob(text, 'sale.yaml');
    return 'No fault.\n';
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    expect(formatError(error)).not.toMatch(/sk.live/);
    const lines = error.problems.map(({ where, message, hint }) => {
      const place = where.replace(/^sale\.yaml:?/, '');
      return `${place} ${message}\n${hint === undefined ? '' : `    ${hint}\n`}`;
    });
    // Which kinds there are is no business of these.
    return lines.join('').replaceAll(ALL_KINDS, '<kinds>').replaceAll(KINDS_WITH_ROWS, '<kinds with rows>');
  }
}

test.each(NAMES)(
  'of the jobs in %s is said what stands beside them, and nothing of it may be a secret',
  async (name) => {
    const text = readFileSync(join(DIRECTORY, name), 'utf8');
    const said = text.split(/^(?=#=== )/m).map((job) => {
      const [title, ...lines] = job.split('\n');
      return `${title}\n${check(lines.join('\n'))}`;
    });
    await expect(said.join('')).toMatchFileSnapshot(join(DIRECTORY, name.replace('.yaml', '.txt')));
  },
);
