import { describe, expect, test } from 'vitest';
import { readEvent } from '../../src/listen/received-event.js';
import { aGatewayEvent, aReceipt } from './events.js';

function read(body: unknown, eventId?: string) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return readEvent(Buffer.from(text), { eventId, signature: undefined });
}

describe('kind of an event', () => {
  test.each(['QUEUED', 'AGENT_JOINED', 'ACTIVITY', 'MESSAGE'])('is gateway for %s of a conversation', (eventType) => {
    expect(read(aGatewayEvent({ eventType }))?.kind).toBe('gateway');
  });

  test('is gateway for the question to a webhook that was made, which has no conversation', () => {
    expect(read({ notificationVersion: 'Chat Gateway', eventType: 'WEB_HOOK_VERIFY' })?.kind).toBe('gateway');
  });

  test('is receipt for a status of an SMS', () => {
    expect(read(aReceipt())?.kind).toBe('receipt');
  });

  test.each<[string, object]>([
    ['another eventType of the gateway', aGatewayEvent({ eventType: 'AGENT_LEFT' })],
    ['an eventType in small letters', aGatewayEvent({ eventType: 'queued' })],
    ['an event without a conversation', aGatewayEvent({ conversationId: undefined })],
    ['a receipt of another namespace', aReceipt({ namespace: 'VOICE' } as object)],
    ['another eventType of SMS', aReceipt({ eventType: 'inbound_message_received' } as object)],
    ['a receipt without umid', aReceipt({ payload: { umid: undefined } })],
    ['a receipt without state', aReceipt({ status: { state: undefined } })],
    ['a receipt whose status is a text', aReceipt({ payload: { status: 'delivered' } })],
    ['a greeting', { hello: 'world' }],
    ['an empty object', {}],
  ])('is unknown for %s', (_, body) => {
    expect(read(body)?.kind).toBe('unknown');
  });
});

describe('id of an event', () => {
  test('is the id that the service gave, whatever the body is', () => {
    expect(read(aGatewayEvent(), 'e-1')?.id).toBe('event:e-1');
    expect(read(aReceipt(), 'e-1')?.id).toBe('event:e-1');
  });

  test('is umid, state, clientMessageId and time of a receipt, whatever else stands in it', () => {
    const { id } = read(aReceipt())!;
    expect(id).toBe('receipt:9f2c6f6e-0000-4000-8000-000000000001:delivered:p1-1:2026-11-21T12:00:00Z');
    expect(read(aReceipt({ payload: { price: null } }), '')?.id).toBe(id);
  });

  test.each([
    ['umid', aReceipt({ payload: { umid: 'other' } })],
    ['state', aReceipt({ status: { state: 'read' } })],
    ['time', aReceipt({ status: { timestamp: '2026-11-21T12:00:01Z' } })],
    ['clientMessageId, as rejected messages share one umid', aReceipt({ payload: { clientMessageId: 'p1-2' } })],
    ['clientMessageId, where one has none', aReceipt({ payload: { clientMessageId: null } })],
    ['clientMessageId, where one is no text', aReceipt({ payload: { clientMessageId: 7 } })],
  ])('of receipts differs with their %s', (_, body) => {
    expect(read(body)?.id).toMatch(/^receipt:/);
    expect(read(body)?.id).not.toBe(read(aReceipt())?.id);
  });

  test.each([
    ['no time', aReceipt({ status: { timestamp: undefined } })],
    ['a umid that holds the colon that parts them', aReceipt({ payload: { umid: 'a:b' } })],
    ['a very long umid', aReceipt({ payload: { umid: 'u'.repeat(1000) } })],
    ['a time with a line break', aReceipt({ status: { timestamp: '2026\n' } })],
  ])('of a receipt with %s is that of its whole body', (_, body) => {
    expect(read(body)?.id).toMatch(/^body:[\w-]{43}$/);
  });

  test('of a receipt stays short, however long or odd its clientMessageId is', () => {
    const idOf = (clientMessageId: unknown) => read(aReceipt({ payload: { clientMessageId } }))!.id;
    const written = ['x'.repeat(350), `${'x'.repeat(349)}y`, 'a:b', 'a b', 'ä', '', 7, { a: 1 }];
    const ids = written.map(idOf);
    for (const id of ids) expect(id).toMatch(/^receipt:[\w-]+:delivered:#[\w-]{43}:2026-11-21T12:00:00Z$/);
    expect(new Set(ids).size).toBe(written.length);
    expect(written.map(idOf)).toEqual(ids);
    expect(idOf(undefined)).toBe(idOf(null));
  });

  test('without one from the service is that of the body', () => {
    const { id } = read(aGatewayEvent())!;
    expect(id).toMatch(/^body:[\w-]{43}$/);
    expect(read(aGatewayEvent())?.id).toBe(id);
    expect(read(aGatewayEvent({ timestamp: 1 }))?.id).not.toBe(id);
  });

  test('is short and plain, however the service writes its own', () => {
    const long = read({}, 'x'.repeat(5000))!.id;
    expect(long).toMatch(/^event-digest:[\w-]{43}$/);
    expect(read({}, `${'x'.repeat(4999)}y`)?.id).not.toBe(long);
    expect(read({}, 'ä b')?.id).toMatch(/^event-digest:/);
  });
});

describe('body', () => {
  test.each([
    ['nothing', ''],
    ['blanks', ' \n'],
    ['broken JSON', '{"eventType":'],
    ['an array', '[{}]'],
    ['null', 'null'],
    ['a text', '"QUEUED"'],
    ['a number', '7'],
    ['two objects', '{}{}'],
    ['a form', 'eventType=QUEUED'],
  ])('that is %s is no event', (_, body) => {
    expect(read(body)).toBeUndefined();
  });

  test('that is not UTF-8 is no event', () => {
    expect(
      readEvent(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), { eventId: undefined, signature: undefined }),
    ).toBeUndefined();
  });

  test('is kept letter by letter, without a byte order mark and blanks around it', () => {
    const text = '{"a": 12345678901234567890.10, "a":1,"\\ud800":"\u2028"}';
    expect(read(`\ufeff \n${text}\r\n`)?.text).toBe(text);
  });
});
