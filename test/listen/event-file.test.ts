import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeEventLine, readEventFile, type StoredEvent } from '../../src/listen/event-file.js';
import { readEvent } from '../../src/listen/received-event.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import { OUTPUT } from './a-listener.js';
import { aGatewayEvent } from './events.js';

const AT = '2026-11-21T12:00:00.000Z';

function aLine(body: unknown, eventId?: string): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return encodeEventLine(readEvent(Buffer.from(text), { eventId, signature: undefined })!, AT);
}

async function readText(text: string) {
  const events: StoredEvent[] = [];
  const { files } = aMemoryDisk({ [OUTPUT]: text });
  const end = await readEventFile(files, OUTPUT, (event) => events.push(event));
  return { events, end };
}

describe('line of an event', () => {
  test('has format, time, kind, id and the body as it came, in this order', () => {
    expect(aLine('{"b":1.0,\r\n"a":"x\\ny"}', 'e1')).toBe(
      `{"format":1,"receivedAt":"${AT}","kind":"unknown","id":"event:e1","event":{"b":1.0,  "a":"x\\ny"}}\n`,
    );
  });

  test('is read as it was written, whatever JSON the body is', async () => {
    const body = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(body, fc.constantFrom(0, 1, 2))), async (bodies) => {
        const texts = bodies.map(([value, indent]) => JSON.stringify(value, undefined, indent));
        const { events, end } = await readText(texts.map((text) => aLine(text)).join(''));
        expect(events.map(({ event }) => event)).toEqual(texts.map((text) => JSON.parse(text)));
        expect(end).toMatchObject({ events: bodies.length, tornBytes: 0 });
      }),
    );
  });
});

describe('file of events', () => {
  test('that is not there, or empty, has none', async () => {
    const { files } = aMemoryDisk();
    expect(await readEventFile(files, OUTPUT, () => {})).toEqual({ events: 0, goodBytes: 0, tornBytes: 0 });
    expect((await readText('')).end).toEqual({ events: 0, goodBytes: 0, tornBytes: 0 });
  });

  test('cut at any byte is read up to its last whole line', async () => {
    const lines = [aLine(aGatewayEvent(), 'e1'), aLine({ text: 'ü😀' }), aLine(aGatewayEvent(), 'e2')];
    const bytes = Buffer.from(lines.join(''));
    const ends = lines.map((_, index) => Buffer.byteLength(lines.slice(0, index + 1).join('')));
    for (let cut = 0; cut <= bytes.length; cut++) {
      const disk = aMemoryDisk();
      const file = await disk.files.openAppend(OUTPUT);
      await file.append(bytes.subarray(0, cut));
      const goodBytes = Math.max(0, ...ends.filter((end) => end <= cut));
      expect(await readEventFile(disk.files, OUTPUT, () => {})).toEqual({
        events: ends.filter((end) => end <= cut).length,
        goodBytes,
        tornBytes: cut - goodBytes,
      });
    }
  });

  test('with zeros at its end, as a power cut leaves them, is read up to them', async () => {
    const line = aLine(aGatewayEvent());
    for (const torn of ['\0'.repeat(5000), `${line.slice(0, 60)}${'\0'.repeat(20)}`]) {
      const { end } = await readText(line + torn);
      expect(end).toEqual({ events: 1, goodBytes: line.length, tornBytes: torn.length });
    }
  });

  test.each([
    ['a CSV', 'mobile,name\n+6590000001,Ann\n', 1],
    ['a text without a line break', 'notes', 1],
    ['other NDJSON', '{"a":1}\n', 1],
    ['events of another format', aLine({}).replace('"format":1', '"format":2'), 1],
    ['a whole line that is damaged', `${aLine({})}${aLine({}).replace('"kind":', '"kind')}${aLine({})}`, 2],
    ['a damaged last line that was whole', `${aLine({})}${aLine({}).replace('}}', '}')}`, 2],
    ['another text after its end', `${aLine({})}and so on`, 2],
  ])('that holds %s is refused, with the line', async (_, text, line) => {
    await expect(readText(text)).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining(`line ${line} is not an event`),
    });
  });

  test('that is a directory is refused', async () => {
    await expect(readEventFile(aMemoryDisk().files, '/out', () => {})).rejects.toMatchObject({ code: 'bad-flag' });
  });
});
