import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check } from 'recheck';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { suggestName } from '../../src/job/schema/written-job.js';
import { explainNumberFormat } from '../../src/normalize/number/explain-number.js';
import { oneIn } from '../one-in.js';

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url));

const LENGTH = 100_000;

interface Bounded {
  readonly why: string;
  /** What uses it, with a text on which it would take seconds were the text not cut short before. */
  readonly call: () => unknown;
}

/** Those whose time grows with the square of the text, and why no text is long enough. */
const BOUNDED: Readonly<Record<string, Bounded>> = {
  'job/schema/written-job.ts /^[^a-z0-9]+|[^a-z0-9]+$/g': {
    why: 'sees the first 64 characters of a name',
    call: () => suggestName(`a${'.'.repeat(LENGTH)}a`),
  },
  'normalize/number/explain-number.ts /[\'"\\u2018\\u2019\\u201C\\u201D`\\u00B4]+$/': {
    why: 'longer cells than 250 are refused before',
    call: () => explainNumberFormat(`${"'".repeat(LENGTH)}1`, 'SG'),
  },
};
const MAX_MS = 1000;

/** Those that are put together while the program runs, and what keeps them tame. */
const BUILT: Readonly<Record<string, string>> = {
  'ports/log.ts': 'alternatives of plain text: no repetition',
  'normalize/number/numbering-plan.ts':
    'the patterns of libphonenumber, pinned with it: digits only, and at most 40 where the cell is plain, else 250',
  'template/dates-and-numbers.ts':
    'of dates digits of fixed number, in a format of at most 50 characters; of numbers groups of three digits, or digits, and digits behind one sign: each character fits one place only',
  'template/segments.ts': 'one class of characters: no repetition',
  'job/schema/written-where.ts': 'either of two literals, which are looked at themselves',
  'cluster/postgres/database.ts': 'a code of the house, five letters and digits: no repetition',
  'service/service-secrets.ts': 'letters of secrets, each in a few writings: no repetition',
  'service/areas/verification.ts': 'one class with bounds',
  'prune/prune-runs.ts':
    'names of outputs, plain words; it is anchored, and no repetition stands beside or within another',
};

type Found = Readonly<{ file: string; text: string }>;

/** Regular expressions of the sources: literals, and files in which one is built. */
function collect(): { literals: Found[]; builders: Set<string> } {
  const literals: Found[] = [];
  const builders = new Set<string>();
  for (const file of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const source = ts.createSourceFile(file, readFileSync(join(SOURCES, file), 'utf8'), ts.ScriptTarget.Latest);
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) literals.push({ file, text: node.text });
      if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && isRegExp(node.expression)) builders.add(file);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return { literals, builders };
}

function isRegExp(node: ts.Expression): boolean {
  return ts.isIdentifier(node) && node.text === 'RegExp';
}

/** And not by the clock: to a machine under load a tame one is slow. */
const BY_STEPS = { timeout: null, incubationTimeout: null, attackTimeout: null };

async function isSlow(text: string): Promise<boolean> {
  const end = text.lastIndexOf('/');
  const { status } = await check(text.slice(1, end), text.slice(end + 1), BY_STEPS);
  return status !== 'safe';
}

describe('regular expressions of the sources', () => {
  const { literals, builders } = collect();

  // With each commit one in three, which takes four seconds.
  test('none takes more than linear time, save on a text whose length is bounded', async () => {
    expect(literals.length).toBeGreaterThan(100);
    const known = Object.keys(BOUNDED);
    const found = literals.map(({ file, text }) => ({ text, name: `${file} ${text}` }));
    expect(known.filter((name) => !found.some((each) => each.name === name))).toEqual([]);
    for (const { name, text } of oneIn(3, found))
      expect([name, await isSlow(text)]).toEqual([name, known.includes(name)]);
  });

  test.each(Object.entries(BOUNDED))(
    '%s, whose time would grow with the square, is not given 100,000 characters',
    (_, { why, call }) => {
      const startMs = performance.now();
      expect(call(), why).toBeDefined();
      expect(performance.now() - startMs, why).toBeLessThan(MAX_MS);
    },
  );

  test('are literals, save where a reason is given', () => {
    expect([...builders].filter((file) => !(file in BUILT))).toEqual([]);
  });
});
