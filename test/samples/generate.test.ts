import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { aFolder } from '../plan/a-plan.js';
import { CODES, parseExpectedRows, readAccount, SAMPLES } from './expected.js';

/** The README of the samples says what is in them. */
const BY_HAND = [
  'campaign-window.csv',
  'handoff.ndjson',
  'number-check.csv',
  'opening.csv',
  'people-answer.mjs',
  'prices.csv',
  'replies.csv',
  'win-back.csv',
];

const made = aFolder();
execFileSync(process.execPath, [join(SAMPLES, 'generate.mjs'), made]);

describe('generator of the samples', () => {
  test('gives exactly the committed files for its seed', () => {
    const paths = listFiles(made);

    const own = listFiles(SAMPLES).filter(
      (path) => !/^generat|^exports\/|^README|^\.git/.test(path) && !BY_HAND.includes(path),
    );
    expect(own).toEqual(paths);
    for (const path of paths) {
      expect(readContent(join(SAMPLES, path)).equals(readContent(join(made, path))), path).toBe(true);
    }
  });

  test('keeps the samples under 2 MB', () => {
    const bytes = listFiles(SAMPLES).reduce((sum, path) => sum + statSync(join(SAMPLES, path)).size, 0);

    expect(bytes).toBeLessThan(2_000_000);
  });

  test('counts every row once, in the account as in the list of rows', () => {
    const rows = parseExpectedRows();
    const { steps } = readAccount();

    for (const step of steps) {
      const own = rows.filter((row) => row.step === step.step);
      expect(own).toHaveLength(step.read);
      expect(step.accepted + step.rejected + step.duplicate + step.suppressed).toBe(step.read);
      for (const disposition of ['accepted', 'rejected', 'duplicate', 'suppressed'] as const) {
        expect(own.filter((row) => row.disposition === disposition)).toHaveLength(step[disposition]);
      }
      for (const [fault, count] of Object.entries(step.rejectedByFault)) {
        expect(own.filter((row) => row.fault === fault)).toHaveLength(count);
      }
      expect(Object.values(step.rejectedByFault).reduce((sum, count) => sum + count, 0)).toBe(step.rejected);
    }
    expect(steps.reduce((sum, step) => sum + step.read, 0)).toBe(rows.length);
  });

  test('makes rows of every fault there is', () => {
    const faults = new Set(parseExpectedRows().map((row) => row.fault));

    expect([...faults].filter((fault) => fault !== '').toSorted()).toEqual(Object.keys(CODES).toSorted());
  });
});

describe('samples', () => {
  const utf8 = (bytes: Buffer) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);

  test('begin with a byte order mark, or with none, as their README says', () => {
    expect(readContent(join(SAMPLES, 'contacts/01-shop.csv')).subarray(0, 3).toString('hex')).toBe('efbbbf');
    expect(readContent(join(SAMPLES, 'recipients/03-thailand-vietnam.csv')).subarray(0, 2).toString('hex')).toBe(
      'fffe',
    );
    expect(utf8(readContent(join(SAMPLES, 'recipients/01-singapore-malaysia.csv')))).toMatch(/^mobile,/);
  });

  test.each(['contacts-crm.csv', 'recipients-crm.csv'])('hold one in windows-1252 that is no UTF-8: %s', (path) => {
    const bytes = readContent(join(SAMPLES, path));

    expect(() => utf8(bytes)).toThrow();
    expect(new TextDecoder('windows-1252').decode(bytes)).toMatch(/;Jürgen;/);
  });

  test('mix line ends in one file, and hold line breaks in quotes in another', () => {
    const mixed = utf8(readContent(join(SAMPLES, 'recipients/07-events.csv')));
    const quoted = utf8(readContent(join(SAMPLES, 'recipients/04-europe-africa.csv.gz')));

    for (const lineEnd of [/[^\r]\n/, /\r\n/, /\r[^\n]/]) expect(mixed).toMatch(lineEnd);
    expect(quoted).toMatch(/"moved in May;\nnew flat/);
  });
});

function listFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

/** Two versions of zlib may pack the same text in different bytes. */
function readContent(path: string): Buffer {
  const bytes = readFileSync(path);
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}
