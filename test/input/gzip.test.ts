import { describe, expect, it } from 'vitest';
import { digestInput } from '../../src/input/text/byte-source.js';
import { aDirectory, aFile, aGzip, anInput, readRefused, readWhole } from './builders.js';

const directory = aDirectory();
const gz = (content: Uint8Array, shown = 'people.csv.gz') => aFile(directory, content, shown);
const whole = aGzip('a,b\n1,2\n');
const more = aGzip('3,4\n');

describe('gzip', () => {
  it('is known by its name and by its first bytes', async () => {
    expect((await readWhole(gz(whole))).cells).toEqual([['1', '2']]);
    expect((await readWhole(gz(whole, 'people.csv'))).cells).toEqual([['1', '2']]);
  });

  it('may have several members', async () => {
    const file = gz(Buffer.concat([whole, more, more]));
    const { cells, reader } = await readWhole(file);
    expect(cells).toEqual([
      ['1', '2'],
      ['3', '4'],
      ['3', '4'],
    ]);
    expect(reader.sha256).toBe((await digestInput(file.path)).sha256);
  });

  it('is refused wherever it is cut off', async () => {
    for (let length = 0; length < whole.length; length += 1) {
      const [refusal] = await readRefused(gz(whole.subarray(0, length)));
      expect(refusal).toMatch(/the gzip file ends in the middle, expected a whole gzip file$/);
    }
    for (let length = 1; length < more.length; length += 1) {
      const [refusal] = await readRefused(gz(Buffer.concat([whole, more.subarray(0, length)])));
      expect(refusal).toMatch(/expected a whole gzip file$/);
    }
  });

  it('is refused when a byte is damaged, unless the content is the same all the same', async () => {
    const outcomes: string[] = [];
    for (let index = 10; index < whole.length; index += 1) {
      const damaged = Buffer.from(whole);
      damaged.writeUInt8(damaged.readUInt8(index) ^ 0x10, index);
      const file = gz(damaged);
      const outcome = await readWhole(file).then(
        ({ cells }) => JSON.stringify(cells),
        () => readRefused(file),
      );
      outcomes.push(String(outcome));
    }
    const refusals = outcomes.filter((outcome) => outcome !== '[["1","2"]]');
    expect(refusals.length).toBeGreaterThanOrEqual(outcomes.length - 1);
    for (const refusal of refusals) expect(refusal).toMatch(/^people\.csv\.gz: .*expected a whole gzip file$/);
  });

  it.each([
    ['text', Buffer.from('garbage')],
    ['one byte', Buffer.from('x')],
    ['padding', Buffer.alloc(10)],
    ['padding and another member', Buffer.concat([Buffer.alloc(10), more])],
  ])('is refused when %s follows its end', async (_what, tail) => {
    const [refusal] = await readRefused(gz(Buffer.concat([whole, tail])));
    expect(refusal).toMatch(/^people\.csv\.gz: .*expected a whole gzip file$/);
  });

  it('is refused when only its name says so', async () => {
    expect(await readRefused(gz(Buffer.from('a,b\n1,2\n')))).toEqual([
      'people.csv.gz: it is not a gzip file, or something else follows its end, expected a whole gzip file',
    ]);
  });

  it('is refused when it unpacks to more than maxFileBytes, however small it is', async () => {
    const bomb = aGzip(`a\n${'1\n'.repeat(5_000_000)}`);
    expect(bomb.length).toBeLessThan(20_000);
    expect(await readRefused(gz(bomb), anInput({ limits: { maxFileBytes: 1_000_000 } }))).toEqual([
      'people.csv.gz: it holds more than 1000000 bytes of content, expected at most that many',
    ]);
  });

  it('is refused as empty when it unpacks to nothing', async () => {
    expect(await readRefused(gz(aGzip('')))).toEqual(['people.csv.gz: the file is empty, expected rows']);
  });
});

it.each([
  ['PK\u0003\u0004...', 'csv'],
  ['\u00d0\u00cf\u0011\u00e0...', 'xls'],
])('workbooks under another name are named as such', async (content, extension) => {
  expect(await readRefused(gz(Buffer.from(content, 'latin1'), `people.${extension}`))).toEqual([
    `people.${extension}: it is a workbook or an archive, expected CSV, NDJSON, or a workbook whose name ends in .xlsx`,
  ]);
});
