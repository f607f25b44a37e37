import { describe, expect, test } from 'vitest';
import { aDirectory, aFile, readRefused, readWhole } from '../input/builders.js';
import { useWholeJobs } from './a-whole-job.js';

const directory = aDirectory();

describe('a column that is named as one that outputs add', () => {
  test('refuses a CSV that is no output: in the outputs its name would stand twice', async () => {
    expect(await readRefused(aFile(directory, 'mobile, _row ,_text\n1,2,3\n'))).toEqual([
      'people.csv:1: column 2 is named _row, a name that Volley adds to its outputs, expected another name',
      'people.csv:1: column 3 is named _text, a name that Volley adds to its outputs, expected another name',
    ]);
  });

  test('rejects the row of an NDJSON file that is no output', async () => {
    const { faults, records } = await readWhole(
      aFile(directory, '{"mobile":"1","_umid":"u"}\n{"mobile":"2"}\n{"mobile":"3"," _umid":"u"}\n', 'people.ndjson'),
    );
    expect(faults).toEqual(['forbidden-key', undefined, 'forbidden-key']);
    expect(records[0]?.fault?.reason).toBe(
      'the key _umid is a name that Volley adds to its outputs, expected another name',
    );
  });
});

describe('keys of an NDJSON file', () => {
  const read = (text: string) => readWhole(aFile(directory, text, 'people.ndjson'));

  test('are one column where they differ only in the blanks around them, as in a CSV header', async () => {
    const { columns, cells } = await read('{"mobile":"1"}\n{" mobile\\uFEFF":"2"}\n');
    expect(columns).toEqual(['mobile']);
    expect(cells).toEqual([['1'], ['2']]);
  });

  test('that are the same but for blanks reject their row, unless only one of them says something', async () => {
    const { faults, cells } = await read('{"a":"1"," a":"2"}\n{"a":"1"," a":null}\n{"a":null,"a ":"2"}\n');
    expect(faults).toEqual(['duplicate-key', undefined, undefined]);
    expect(cells.slice(1).map(([first]) => first)).toEqual(['1', '2']);
  });

  test('that are forbidden stay so with blanks around them', async () => {
    const expected = ['forbidden-key', 'forbidden-key'];
    expect((await read('{" __proto__":"1"}\n{"constructor\\u00a0":1}\n')).faults).toEqual(expected);
  });
});

describe('headers that JavaScript knows', () => {
  const runWhole = useWholeJobs();

  test('toString and its like are names as others', async () => {
    const names = ['toString', 'hasOwnProperty', 'valueOf', 'length', '__defineGetter__', 'then'];
    const { summary, taken } = await runWhole({
      files: { 'people.csv': `mobile,${names.join(',')}\n+6591234567,1,2,3,4,5,6\n+6591234568,,,,,,\n` },
      steps: [
        {
          kind: 'sms',
          input: { files: 'people.csv' },
          destination: 'mobile',
          template: { text: names.map((name) => `{{ ${name} }}`).join(' ') },
        },
      ],
    });
    expect([summary?.balance, taken]).toEqual([expect.objectContaining({ accepted: 1, rejected: 1 }), 1]);
    expect(summary?.steps[0]?.rejections).toEqual({ 'missing-value': 1 });
  });
});
