import { expect, test } from 'vitest';
import { createMemoryLog, type LineLog, openFileLog } from '../../../src/sandbox/ledger/line-log.js';
import { aMemoryDisk } from '../../storage/a-memory-disk.js';

async function linesOf(log: LineLog): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of log.read()) lines.push(line.toString());
  return lines;
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
    const rest: string[] = [];
    for (let next = await reading.next(); !next.done; next = await reading.next()) rest.push(next.value.toString());
    expect(rest).toEqual([LONG, '', 'two']);
    await log.clear();
    await log.append(Buffer.from('three\n'));
    expect(await linesOf(log)).toEqual(['one', 'three']);
    await log.close();
  },
);
