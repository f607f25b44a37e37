import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { decodeEventLine, readEvent, readEventFile } from '../../src/listen/event-file.js';
import { KeySet } from '../../src/storage/appended-file.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import { OUTPUT } from './a-listener.js';
import { aGatewayEvent, anEventLine, aReceipt, RECEIVED_AT } from './events.js';

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

function read(body: unknown, eventId?: string) {
  const bytes = body instanceof Buffer ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return readEvent(bytes, { eventId, signature: undefined }, RECEIVED_AT);
}

test.each<[string, string, unknown]>([
  ...['QUEUED', 'AGENT_JOINED', 'ACTIVITY', 'MESSAGE'].map(
    (eventType) => ['gateway', eventType, aGatewayEvent({ eventType })] as [string, string, unknown],
  ),
  ['gateway', 'the question to a new webhook, which has no conversation', { eventType: 'WEB_HOOK_VERIFY' }],
  ['receipt', 'a status of an SMS', aReceipt()],
  ['unknown', 'another eventType of the gateway', aGatewayEvent({ eventType: 'AGENT_LEFT' })],
  ['unknown', 'an event without a conversation', aGatewayEvent({ conversationId: undefined })],
  ['unknown', 'a receipt of another namespace', aReceipt({ namespace: 'VOICE' } as object)],
  ['inbound', 'an SMS that a person sent', aReceipt({ eventType: 'inbound_message_received' } as object)],
  ['unknown', 'another eventType of SMS', aReceipt({ eventType: 'another' } as object)],
  ['unknown', 'a receipt without umid', aReceipt({ payload: { umid: undefined } })],
  ['unknown', 'a receipt without state', aReceipt({ status: { state: undefined } })],
  ['unknown', 'a receipt whose status is a text', aReceipt({ payload: { status: 'delivered' } })],
  ['unknown', 'an empty object', {}],
])('the kind is %s for %s', (kind, _, body) => {
  expect(read(body)?.kind).toBe(kind);
});

test('what a person sent at a time without an offset was sent then by UTC, whatever zone this machine has', () => {
  vi.stubEnv('TZ', 'Pacific/Kiritimati');
  onTestFinished(() => void vi.unstubAllEnvs());
  const payload = { body: 'STOP', source: '+6591234567', timestamp: '2026-11-21T12:00:01.41' };
  const event = { namespace: 'SMS', eventType: 'inbound_message_received', payload };
  expect(read(event)?.message?.at).toBe('2026-11-21T12:00:01.410Z');
});

describe('the id', () => {
  const RECEIPT = 'receipt:9f2c6f6e-0000-4000-8000-000000000001';
  const DEEP = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
  const odd = (clientMessageId: unknown) => aReceipt({ payload: { clientMessageId } });
  test.each<[string, unknown, string | undefined, RegExp]>([
    ['that the service gave', aReceipt(), 'e-1', /^event:e-1$/],
    ['that the service gave, as a digest if it is long', {}, 'x'.repeat(5000), /^event-digest:[\w-]{43}$/],
    ['that the service gave, as a digest if it is odd', {}, 'ä b', /^event-digest:[\w-]{43}$/],
    ['of a receipt', aReceipt(), '', RegExp(`^${RECEIPT}:delivered:p1-1:2026-11-21T12:00:00Z$`)],
    ['of a receipt without a message id', odd(null), '', RegExp(`^${RECEIPT}:delivered::2026-11-21T12:00:00Z$`)],
    ['of a receipt with a long one', odd('x'.repeat(350)), '', /^receipt:[\w-]+:delivered:#[\w-]{43}:/],
    ['of a receipt with one that parts', odd('a:b'), '', /^receipt:[\w-]+:delivered:#[\w-]{43}:/],
    ['of a receipt whose one is a number', odd(7), '', /^body:[\w-]{43}$/],
    ['of a receipt whose one is deep', JSON.stringify(odd('')).replace('""', DEEP), '', /^body:[\w-]{43}$/],
    ['of a receipt without time', aReceipt({ status: { timestamp: undefined } }), '', /^body:[\w-]{43}$/],
    ['of a receipt with an odd time', aReceipt({ status: { timestamp: '2026\n' } }), '', /^body:[\w-]{43}$/],
    ['of a receipt whose umid parts', aReceipt({ payload: { umid: 'a:b' } }), '', /^body:[\w-]{43}$/],
    ['of a receipt with a long umid', aReceipt({ payload: { umid: 'u'.repeat(1000) } }), '', /^body:[\w-]{43}$/],
    ['of anything else', aGatewayEvent(), undefined, /^body:[\w-]{43}$/],
  ])('is one %s', (_, body, eventId, form) => {
    expect(read(body, eventId)?.id).toMatch(form);
    expect(read(body, eventId)?.id).toBe(read(body, eventId)?.id);
  });

  test('is the same for one receipt, whatever else stands in it', () => {
    expect(read(aReceipt({ payload: { price: null } }))?.id).toBe(read(aReceipt())?.id);
  });

  test('differs with what an event is about', () => {
    const bodies: unknown[] = [
      aGatewayEvent(),
      aGatewayEvent({ timestamp: 1 }),
      aReceipt(),
      aReceipt({ payload: { umid: 'other' } }),
      aReceipt({ status: { state: 'read' } }),
      aReceipt({ status: { timestamp: '2026-11-21T12:00:01Z' } }),
      // Rejected messages share one umid.
      ...['p1-2', null, 7, '7', 'a:b', `${'x'.repeat(350)}a`, `${'x'.repeat(350)}b`].map(odd),
    ];
    const ids = [...bodies.map((body) => read(body)?.id), ...['a', 'b'].map((x) => read({}, 'x'.repeat(200) + x)?.id)];
    expect(new Set(ids).size).toBe(ids.length);
  });
});

test.each<[string, unknown]>([
  ['nothing', ''],
  ['broken JSON', '{"eventType":'],
  ['an array', '[{}]'],
  ['null', 'null'],
  ['a text', '"QUEUED"'],
  ['two objects', '{}{}'],
  ['a form', 'eventType=QUEUED'],
  ['an object that is not UTF-8', Buffer.from('{"\xff":1}', 'latin1')],
])('%s is no event', (_, body) => {
  expect(read(body)).toBeUndefined();
});

describe('the line of an event', () => {
  test('has format, time, kind, id and the body as it came, without a byte order mark and blanks around it', () => {
    const body = '\ufeff \n{"b":1.0,\r\n"a":12345678901234567890.10,"a":"x\\ny\u2028\\ud800"}\r\n';
    expect(read(body, 'e1')?.line).toBe(
      `{"format":1,"receivedAt":"${RECEIVED_AT}","kind":"unknown","id":"event:e1","event":{"b":1.0,  "a":12345678901234567890.10,"a":"x\\ny\u2028\\ud800"}}\n`,
    );
  });

  test('is read as it was written, whatever JSON the body is', () => {
    const body = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());
    fc.assert(
      fc.property(body, fc.constantFrom(0, 1, 2), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(decodeEventLine(read(text)!.line)?.event).toEqual(JSON.parse(text));
      }),
    );
  });
});
