import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildPage, createMemoryLog, expandPage, openFileLog } from '../../../src/sandbox/ledger.js';
import { aMemoryDisk } from '../../storage/a-memory-disk.js';

const HEAD = { seq: 5, at: '2026-11-21T12:00:00.000Z', area: 'sms', request: 9 } as const;

test('page gives back every row as it was, after JSON too', () => {
  const cell = fc.oneof(fc.string(), fc.constant(null), fc.integer());
  const row = fc.record({ a: cell, b: fc.constantFrom('x', 'y'), c: fc.constant('same') });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1 }), (rows) => {
      const page = JSON.parse(JSON.stringify(buildPage(HEAD, rows)));
      const { seq, ...head } = HEAD;
      expect([...expandPage(page)]).toEqual(rows.map((fields, place) => ({ ...head, seq: seq + place, ...fields })));
    }),
  );
});

test('page writes what all rows have in common once', () => {
  const page = buildPage(HEAD, [
    { text: 'Hi', id: 1, country: null },
    { text: 'Hi', id: 2, country: null },
  ]);
  expect(page).toEqual({ ...HEAD, shared: { text: 'Hi', country: null }, columns: ['id'], rows: [[1], [2]] });
});

async function textsOf(lines: AsyncIterable<Buffer>): Promise<string[]> {
  const texts: string[] = [];
  for await (const line of lines) texts.push(line.toString());
  return texts;
}

const LONG = 'x'.repeat(2_500_000);

test.each([
  ['memory', async () => createMemoryLog()],
  ['file', () => openFileLog(aMemoryDisk().files, '/data')],
])(
  '%s log gives whole lines of any length, those that were there when reading began, and all but the first are forgotten',
  async (_, open) => {
    const log = await open();
    for (const line of ['one', LONG, '', 'two']) await log.append(Buffer.from(`${line}\n`));
    const reading = log.read()[Symbol.asyncIterator]();
    expect((await reading.next()).value.toString()).toBe('one');
    await log.append(Buffer.from('late\n'));
    expect(await textsOf({ [Symbol.asyncIterator]: () => reading })).toEqual([LONG, '', 'two']);
    await log.clear();
    await log.append(Buffer.from('three\n'));
    expect(await textsOf(log.read())).toEqual(['one', 'three']);
    await log.close();
  },
);
