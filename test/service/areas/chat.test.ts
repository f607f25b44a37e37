import { describe, expect, test } from 'vitest';
import { postMessage, readMessages } from '../../../src/service/areas/chat.js';
import { aResponse, NO_OBJECTS, someAddresses } from '../an-answer.js';

const AUTHOR = { avatarUrl: 'https://a.example/z.png', email: 'zoe@example.com', id: 'u-1', name: 'Zoë' };
const AS_READ = { authorUser: AUTHOR, parsed: 'Hello', id: 'm-1', timestamp: 1594918006814947 };

const readAnswer = (body: unknown) => readMessages.read(aResponse(body), {});
const postAnswer = (body: unknown) => postMessage.read(aResponse(body), { messageRaw: 'Hello' });

describe('the messages of a room', () => {
  test('are read with every digit of their time', () => {
    expect(readAnswer([AS_READ])).toEqual([
      { id: 'm-1', text: 'Hello', author: AUTHOR, at: '2020-07-16T16:46:46.814Z', timestamp: 1594918006814947 },
    ]);
    const nextTick = { ...AS_READ, timestamp: 1594918006814948 };
    expect(readAnswer([nextTick])?.[0]?.timestamp).not.toBe(AS_READ.timestamp);
  });

  test('stand oldest first, whatever their order was; without a time at the end', () => {
    const times = [30, undefined, 10, 20, 'soon', 10];
    const messages = times.map((timestamp, index) => ({ ...AS_READ, id: `m-${index}`, timestamp }));
    expect(readAnswer(messages)?.map(({ id }) => id)).toEqual(['m-2', 'm-5', 'm-3', 'm-0', 'm-1', 'm-4']);
  });

  test.each([undefined, null, 1.5, 1e300, '', 'soon', {}])('have no time when it is %j', (timestamp) => {
    expect(readAnswer([{ ...AS_READ, timestamp }])).toMatchObject([{ at: undefined, timestamp: undefined }]);
  });

  test('may be none, and say nothing', () => {
    expect(readAnswer([])).toEqual([]);
    const author = { id: '', name: '', email: '', avatarUrl: '' };
    expect(readAnswer([{}, null, 'text', [AS_READ]])).toEqual([
      { id: '', text: '', author, at: undefined, timestamp: undefined },
    ]);
  });

  test.each([...NO_OBJECTS.filter((body) => body !== '[]'), {}, { messages: [] }, { fault: {} }])(
    'are not read from %j, which is not a list',
    (body) => expect(readAnswer(body)).toBeUndefined(),
  );
});

describe('the answer to a post', () => {
  test.each([
    [undefined, undefined],
    [{}, undefined],
    [{ parsed: 'Hello' }, 'Hello'],
  ])('may repeat the text: %j', (body, parsed) => {
    expect(postAnswer(body)).toEqual({ parsed });
  });

  test.each(['<html>OK</html>', '[]', 'null', { fault: { faultstring: 'Invalid access token' } }])(
    'is none when it is a page or a fault: %j',
    (body) => expect(postAnswer(body)).toBeUndefined(),
  );
});

describe('a call to the chat', () => {
  test.each([
    [{}, ''],
    [{ pageSize: 5 }, '?pageSize=5'],
    [{ room: 'Ops & more' }, '?room=Ops%20%26%20more'],
    [{ pageSize: 5, room: 'Ops+1' }, '?pageSize=5&room=Ops%2B1'],
  ])('that reads %j asks for %j', (input, query) => {
    expect(readMessages.request(someAddresses(), input).path).toBe(`/chat/api/chat/v1/messages${query}`);
  });
});
