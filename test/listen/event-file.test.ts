import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEventFile } from '../../src/listen/event-file.js';
import { KeySet } from '../../src/storage/appended-file.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import { OUTPUT } from './a-listener.js';
import { aGatewayEvent, anEventLine } from './events.js';

const readText = (text: string) => readEventFile(aMemoryDisk({ [OUTPUT]: text }).files, OUTPUT, () => {});
const NOTHING = { events: 0, goodBytes: 0, tornBytes: 0 };

describe('a file of events', () => {
  test('that is not there, or empty, has none', async () => {
    expect(await readEventFile(aMemoryDisk().files, OUTPUT, () => {})).toEqual(NOTHING);
    expect(await readText('')).toEqual(NOTHING);
  });

  test('cut at any byte is read up to its last whole line', async () => {
    const lines = [
      anEventLine(aGatewayEvent(), 'e1'),
      anEventLine({ text: 'ü😀' }),
      anEventLine(aGatewayEvent(), 'e2'),
    ];
    const bytes = Buffer.from(lines.join(''));
    const ends = lines.map((_, index) => Buffer.byteLength(lines.slice(0, index + 1).join('')));
    for (let cut = 0; cut <= bytes.length; cut++) {
      const disk = aMemoryDisk();
      const file = await disk.files.openAppend(OUTPUT);
      await file.append(bytes.subarray(0, cut));
      const whole = ends.filter((end) => end <= cut);
      const goodBytes = whole.at(-1) ?? 0;
      const read = await readEventFile(disk.files, OUTPUT, () => {});
      expect(read).toEqual({ events: whole.length, goodBytes, tornBytes: cut - goodBytes });
    }
  });

  test('with zeros at its end, as a power cut leaves them, is read up to them', async () => {
    const line = anEventLine(aGatewayEvent());
    for (const torn of ['\0'.repeat(5000), `${line.slice(0, 60)}${'\0'.repeat(20)}`]) {
      expect(await readText(line + torn)).toEqual({ events: 1, goodBytes: line.length, tornBytes: torn.length });
    }
  });

  test.each([
    ['a CSV', 'mobile,name\n+6590000001,Ann\n', 1],
    ['a text without a line break', 'notes', 1],
    ['other NDJSON', '{"a":1}\n', 1],
    ['events of another format', anEventLine({}).replace('"format":1', '"format":2'), 1],
    [
      'a whole line that is damaged',
      `${anEventLine({})}${anEventLine({}).replace('"kind":', '"kind')}${anEventLine({})}`,
      2,
    ],
    ['a damaged last line that was whole', `${anEventLine({})}${anEventLine({}).replace('}}', '}')}`, 2],
    ['another text after its end', `${anEventLine({})}and so on`, 2],
  ])('that holds %s is refused, with the line', async (_, text, line) => {
    const message = expect.stringContaining(`line ${line} is not an event`);
    await expect(readText(text)).rejects.toMatchObject({ code: 'bad-input', message });
  });

  test('that is a directory is refused', async () => {
    await expect(readEventFile(aMemoryDisk().files, '/out', () => {})).rejects.toMatchObject({ code: 'bad-flag' });
  });
});

test('a set of keys is like a set of texts', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 2 })), fc.array(fc.string({ maxLength: 2 })), (added, asked) => {
      const keys = new KeySet();
      for (const id of added) keys.add(id);
      const texts = new Set(added);
      for (const id of [...added, ...asked]) expect(keys.has(id)).toBe(texts.has(id));
    }),
  );
});

test('a set of keys takes 32 bytes a key at most, however long they are', () => {
  const keys = new KeySet();
  const long = 'x'.repeat(500);
  for (let index = 0; index < 10_000; index++) {
    keys.add(`${long}${index}`);
    if (index > 1000 && keys.bytes > 32 * (index + 1)) expect.fail(`${keys.bytes} bytes for ${index + 1} keys`);
  }
});
