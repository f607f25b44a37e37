import { expect, test } from 'vitest';
import { postMessage, readMessages } from '../../../src/service/areas/chat.js';
import { aResponse, NO_OBJECTS } from '../an-answer.js';

const AUTHOR = { avatarUrl: 'https://a.example/z.png', email: 'zoe@example.com', id: 'u-1', name: 'Zoë' };
const AS_READ = { authorUser: AUTHOR, parsed: 'Hello', id: 'm-1', timestamp: 1594918006814947 };
const SILENT = { id: '', text: '', author: { id: '', name: '', email: '', avatarUrl: '' } };

const readAnswer = (body: unknown) => readMessages.read(aResponse(body), {});
const postAnswer = (body: unknown) => postMessage.read(aResponse(body), { messageRaw: 'Hello' });

test('messages are read with every digit of their time, and may say nothing', () => {
  expect(readAnswer([AS_READ, {}, null, 'text', [AS_READ]])).toEqual([
    { id: 'm-1', text: 'Hello', author: AUTHOR, at: '2020-07-16T16:46:46.814Z', timestamp: 1594918006814947 },
    { ...SILENT, at: undefined, timestamp: undefined },
  ]);
  expect(readAnswer([])).toEqual([]);
});

test('messages stand oldest first, whatever their order was; without a time at the end', () => {
  const times = [30, undefined, 10, 20, 'soon', 10, 1.5, 1e300];
  const messages = times.map((timestamp, index) => ({ ...AS_READ, id: `m-${index}`, timestamp }));
  const read = readAnswer(messages);
  expect(read?.map(({ id }) => id)).toEqual(['m-2', 'm-5', 'm-3', 'm-0', 'm-1', 'm-4', 'm-6', 'm-7']);
  expect(read?.slice(4).every(({ at, timestamp }) => at === undefined && timestamp === undefined)).toBe(true);
});

test.each([...NO_OBJECTS.filter((body) => body !== '[]'), {}, { messages: [] }, { fault: {} }])(
  'messages are not read from %j, which is not a list',
  (body) => expect(readAnswer(body)).toBeUndefined(),
);

test.each<[body: unknown, answer: object | undefined]>([
  [undefined, { parsed: undefined }],
  [{}, { parsed: undefined }],
  [{ parsed: 'Hello' }, { parsed: 'Hello' }],
  ...['null', '[]', '"OK"', '\r\n'].map((body): [string, object] => [body, { parsed: undefined }]),
  ['<html>OK</html>', undefined],
  [{ fault: { faultstring: 'Invalid access token' } }, undefined],
])('the answer %j to a post, which may repeat the text, is %j; a page or a fault is none', (body, answer) => {
  expect(postAnswer(body)).toEqual(answer);
});
