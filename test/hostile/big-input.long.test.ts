import { describe, expect, test } from 'vitest';
import { readSecret } from '../../src/command/open-service.js';
import { parseJob } from '../../src/job/load.js';
import { DEFAULT_READ_LIMITS } from '../../src/job/schema/written-input.js';
import { aDirectory, aFile, anInput, readRefused, readWhole } from '../input/builders.js';
import { aJobFile, aService } from '../job/a-job-file.js';

const directory = aDirectory();
const asItIs = anInput({ limits: DEFAULT_READ_LIMITS });
const MIB = 1024 * 1024;
/** What takes linear time takes well below a second; each of these took minutes, or would. */
const SOON = 20_000;

describe('a job that says nothing of limits', () => {
  test('refuses a field of 10 MB, with its line', async () => {
    const file = aFile(directory, `name,mobile\nAnn,1\n${'x'.repeat(10 * MIB)},2\n`);
    expect(await readRefused(file, asItIs)).toEqual([
      'people.csv:3: field 1 of the row that begins on this line is too long, expected at most 1048576 bytes',
    ]);
    const line = JSON.stringify({ name: 'x'.repeat(10 * MIB) });
    const { faults } = await readWhole(aFile(directory, `${line}\n{"name":"Ann"}\n`, 'people.ndjson'), asItIs);
    expect(faults).toEqual(['field-too-long', undefined]);
  });

  test('refuses 100,000 keys', async () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `c${index}`);
    const row = JSON.stringify(Object.fromEntries(names.map((name) => [name, ''])));
    const ndjson = aFile(directory, row, 'people.ndjson');
    expect(await readRefused(ndjson, asItIs)).toEqual([
      'people.ndjson:1: the lines up to this one have more than 1000 different keys, expected at most that many',
    ]);
  });

  test('refuses a line of 17 MB, with its number', async () => {
    const huge = `{"name":"Ann"}\n{"name":["${'x","'.repeat(5 * MIB)}"]}\n`;
    expect(await readRefused(aFile(directory, huge, 'people.ndjson'), asItIs)).toEqual([
      'people.ndjson:2: the line is too long, expected at most 16777216 bytes',
    ]);
  });
});

describe('takes no longer than its length calls for', () => {
  test(
    '100,000 columns, where the job allows them',
    async () => {
      const names = Array.from({ length: 100_000 }, (_, index) => `c${index}`);
      const wide = anInput({ limits: { ...DEFAULT_READ_LIMITS, maxColumns: 100_000 } });
      const { columns, cells } = await readWhole(aFile(directory, `${names.join(',')}\n${names.join(',')}\n`), wide);
      expect([columns.length, cells[0]?.at(-1)]).toEqual([100_000, 'c99999']);
    },
    SOON,
  );

  test.each([
    ['a number with 300,000 zeros before its last digit', `{"a":0.1${'0'.repeat(300_000)}1}`, 'number-loses-digits'],
    ['a number of 500,000 digits', `{"a":${'9'.repeat(500_000)}}`, 'number-loses-digits'],
    ['500,000 quotes that are escaped', `{"a":"${'\\"'.repeat(500_000)}"}`, undefined],
    ['500,000 backslashes', `{"a":"${'\\\\'.repeat(500_000)}"}`, undefined],
    ['500,000 blanks before a colon', `{"a"${' '.repeat(500_000)}:1}`, undefined],
    ['500,000 empty texts', `[${'"",'.repeat(500_000)}""]`, 'not-an-object'],
    ['500,000 opening brackets', '['.repeat(500_000), 'bad-json'],
  ])(
    'in NDJSON, %s',
    async (_title, line, fault) => {
      const { faults } = await readWhole(aFile(directory, `{"a":1}\n${line}\n`, 'people.ndjson'), asItIs);
      expect(faults).toEqual([undefined, fault]);
    },
    SOON,
  );

  test.each([
    ['a header of 500,000 quotes', `${'""'.repeat(250_000)}\n`],
    ['500,000 blank lines', `${'\n'.repeat(500_000)}name\nAnn\n`],
    ['500,000 lines of delimiters', `name,mobile\n${',\n'.repeat(500_000)}`],
    ['a field of 500,000 line ends', `name,mobile\n"${'\r'.repeat(500_000)}",1\n`],
  ])(
    'in CSV, %s',
    async (_title, text) => {
      await readWhole(aFile(directory, text), asItIs).catch(() => {});
    },
    SOON,
  );

  test(
    'an address of 300,000 slashes in a job',
    () => {
      const text = aJobFile({
        service: aService({ bases: { sms: `https://sms.example.com${'/'.repeat(300_000)}x` } }),
      });
      expect(parseJob(text, 'sale.yaml').service.bases.sms).toHaveLength(300_024);
    },
    SOON,
  );

  test(
    'a file of 300,000 line ends in the place of a secret',
    async () => {
      const readFile = async () => `${'\n'.repeat(300_000)}x`;
      await expect(readSecret({ file: 'key' }, { env: {}, readFile }, 'the key')).rejects.toMatchObject({
        code: 'bad-credentials',
      });
    },
    SOON,
  );
});
