import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatError } from '../../src/command/failure.js';
import { KINDS, ROW_KINDS } from '../../src/domain/areas.js';
import { parseJob } from '../../src/job/load.js';

/**
 * Faulty job files, and beside each what `volley check` says of it. A file holds several jobs: a line `#=== title` begins each.
 * `npx vitest run test/job/faulty.test.ts -u` writes what is said now; read what git shows then.
 */
const DIRECTORY = join(import.meta.dirname, 'faulty');
const ALL_KINDS = Object.keys(KINDS).join(', ');
const KINDS_WITH_ROWS = Object.keys(ROW_KINDS).join(', ');
const NAMES = readdirSync(DIRECTORY).filter((name) => name.endsWith('.yaml'));

function check(text: string): string {
  try {
    parseJob(text, 'sale.yaml');
    return 'No fault.\n';
  } catch (error) {
    // Which kinds there are is no business of these.
    return formatError(error).replaceAll(ALL_KINDS, '<kinds>').replaceAll(KINDS_WITH_ROWS, '<kinds with rows>');
  }
}

test.each(NAMES)('of the jobs in %s is said what stands beside them', async (name) => {
  const text = readFileSync(join(DIRECTORY, name), 'utf8');
  const said = text.split(/^(?=#=== )/m).map((job) => {
    const [title, ...lines] = job.split('\n');
    return `${title}\n${check(lines.join('\n'))}`;
  });
  await expect(said.join('\n')).toMatchFileSnapshot(join(DIRECTORY, name.replace('.yaml', '.txt')));
});

test.each(NAMES)('nothing that may be a secret in %s is repeated', (name) => {
  expect(readFileSync(join(DIRECTORY, name.replace('.yaml', '.txt')), 'utf8')).not.toMatch(/sk.live/);
});
