import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeRequestLine,
  encodePlan,
  encodeRequestLine,
  type Plan,
  readPlan,
} from '../../../src/plan/format/plan-file.js';
import { decodeRowLine, decodeRowLines, type RowLine } from '../../../src/plan/format/row-line.js';
import { aMemoryDisk } from '../../storage/a-memory-disk.js';
import { aPlan } from '../a-plan.js';
import { aRowLine } from '../a-row-line.js';

const DAMAGED = expect.objectContaining({ code: 'plan-damaged' });

const count = fc.nat({ max: 1e9 });
const text = fc.string({ unit: 'binary' });
const head = fc.record({ request: count, first: count, rows: count, messages: count, segments: count });
const body = fc.json({ stringUnit: 'binary' });

describe('line of a request', () => {
  it('gives back its head, and its body byte for byte', () => {
    fc.assert(
      fc.property(head, body, (written, json) => {
        const line = Buffer.concat(encodeRequestLine(written, Buffer.from(json)));
        expect(line.at(-1)).toBe(10);
        expect(line.indexOf(10)).toBe(line.length - 1);
        const { body: read, ...rest } = decodeRequestLine(line.subarray(0, -1), 'x');
        expect(rest).toEqual(written);
        expect(read.equals(Buffer.from(json))).toBe(true);
        expect(JSON.parse(line.toString())).toMatchObject({ ...written, body: JSON.parse(json) });
      }),
    );
  });

  it('is refused with any one bit changed', () => {
    const line = Buffer.concat(
      encodeRequestLine({ request: 12, first: 30, rows: 3, messages: 3, segments: 4 }, Buffer.from('{"a":"é"}')),
    );
    const whole = line.subarray(0, -1);
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const damaged = Buffer.from(whole);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => decodeRequestLine(damaged, 'x'), `bit ${bit}: ${damaged.toString()}`).toThrow(DAMAGED);
    }
  });

  it('is refused cut off at any byte', () => {
    const line = Buffer.concat(
      encodeRequestLine({ request: 1, first: 0, rows: 1, messages: 1, segments: 1 }, Buffer.from('{"a":[1]}')),
    );
    for (let length = 0; length < line.length - 1; length++) {
      expect(() => decodeRequestLine(line.subarray(0, length), 'x'), String(length)).toThrow(DAMAGED);
    }
  });
});

const REJECTED = ['too-short', 'bad-json'] as const;

it('line of a row gives back what was planned for the row, and its cells: missing ones as missing, empty ones as empty', () => {
  const place = { file: count, line: count, row: count, cells: fc.array(fc.option(text, { nil: undefined })) };
  const stage = fc.constantFrom('read' as const, 'normalize' as const, 'render' as const, 'send' as const);
  const rejection = { stage, field: text, code: fc.constantFrom(...REJECTED), reason: text };
  const code = fc.constantFrom('duplicate' as const, 'suppressed' as const);
  const plain = { noNullPrototype: true };
  const row: fc.Arbitrary<RowLine> = fc.oneof(
    fc.record({ ...place, state: fc.constant('planned' as const), request: count, facts: fc.array(text) }, plain),
    fc.record({ ...place, state: fc.constant('rejected' as const), rejection: fc.record(rejection, plain) }, plain),
    fc.record(
      { ...place, state: fc.constant('skipped' as const), skip: fc.record({ code, reason: text }, plain) },
      plain,
    ),
  );
  const from = fc.option(text, { nil: undefined });
  fc.assert(
    fc.property(row, from, (own, id) => {
      const written: RowLine = id === undefined ? own : { ...own, from: id };
      const line = aRowLine(written);
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(decodeRowLine(line.slice(0, -1), 'rows')).toStrictEqual(written);
      expect(decodeRowLines(line + line, 'rows')).toStrictEqual([written, written]);
    }),
  );
});

it('a row line that is cut off is refused as damage, with the name of its file', () => {
  const skip = { code: 'suppressed', reason: '' } as const;
  const line = aRowLine({ state: 'skipped', file: 0, line: 2, row: 1, skip, cells: ['a'] });
  expect(() => decodeRowLine(line.slice(0, 9), '1-sms.rows.ndjson')).toThrow('Cannot use 1-sms.rows.ndjson');
  expect(() => decodeRowLine('', '1-sms.rows.ndjson')).toThrow('Cannot use 1-sms.rows.ndjson');
  expect(() => decodeRowLines(`${line}\n${line}`, '1-sms.rows.ndjson')).toThrow('Cannot use 1-sms.rows.ndjson');
});

describe('plan.json', () => {
  it('is read back as it was made', async () => {
    const { plan, directory, disk } = await aPlan();
    expect(await readPlan(disk.files, directory)).toEqual(JSON.parse(JSON.stringify(plan)));
  });

  it('that is not there is refused with what to do', async () => {
    const message = 'Cannot read a plan in /out: it has no plan.json, expected a run directory';
    await expect(readPlan(aMemoryDisk().files, '/out')).rejects.toMatchObject({ code: 'bad-plan', message });
  });

  it('of another format is refused by name', async () => {
    const later = { ...(await aPlan()).plan, format: 99 };
    const disk = aMemoryDisk({ '/out/plan.json': encodePlan(later) });
    const expected = { code: 'bad-plan', message: 'Cannot read /out/plan.json: its format is 99, expected 1' };
    await expect(readPlan(disk.files, '/out')).rejects.toMatchObject(expected);
  });

  it('is refused as damaged with any one bit changed, and cut off at any byte', async () => {
    const plan = { format: 1, id: 'abc', steps: [], job: { name: 'Zoë' } } as unknown as Plan;
    const whole = Buffer.from(encodePlan(plan));
    const disk = aMemoryDisk();
    const readBytes = (bytes: Buffer) => {
      disk.write('/out/plan.json', bytes);
      return readPlan(disk.files, '/out');
    };
    expect(await readBytes(whole)).toEqual(plan);
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const damaged = Buffer.from(whole);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      await expect(readBytes(damaged), `bit ${bit}: ${damaged.toString()}`).rejects.toEqual(DAMAGED);
    }
    for (let length = 0; length < whole.length; length++) {
      await expect(readBytes(whole.subarray(0, length)), String(length)).rejects.toEqual(DAMAGED);
    }
  });

  it('that is gone from a run is damage, and named', async () => {
    for (const left of ['journal.ndjson', '1-sms.requests.ndjson']) {
      const disk = aMemoryDisk({ [`/out/${left}`]: '' });
      const message = 'Cannot use /out/plan.json: it does not exist, expected it as it was planned';
      await expect(readPlan(disk.files, '/out')).rejects.toMatchObject({ code: 'plan-damaged', message });
    }
  });
});
