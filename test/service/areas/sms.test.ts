import { expect, test } from 'vitest';
import { cancelBatch, readSmsBatchAnswer } from '../../../src/service/areas/sms.js';
import { aResponse, NO_OBJECTS } from '../an-answer.js';

const STATUS = { code: 'QUEUED', description: 'SMS is accepted and queued for processing' };
const MESSAGE = { umid: 'u-1', clientMessageId: 'm-1', destination: '+6591234567', encoding: 'GSM7', status: STATUS };
const ABOUT = { batchId: 'b', clientBatchId: 'c', acceptedCount: 1, rejectedCount: 0 };

test('a batch answer gives the ids, the counts and each message; words that are missing are empty', () => {
  const odd = { umid: {}, clientMessageId: 8, destination: 6591234567, status: 'QUEUED' };
  const silent = { umid: '', clientMessageId: undefined, destination: '', code: '', description: '' };
  expect(readSmsBatchAnswer({ ...ABOUT, messages: [MESSAGE, null, 'x', [MESSAGE], {}, odd] })).toEqual({
    ...ABOUT,
    messages: [
      { umid: 'u-1', clientMessageId: 'm-1', destination: '+6591234567', ...STATUS },
      silent,
      { ...silent, clientMessageId: 8, destination: '6591234567' },
    ],
  });
});

test.each([undefined, null, '', 'OK', 5, [], [MESSAGE], { messages: 'none' }, { messages: {} }])(
  '%j is no batch answer',
  (body) => expect(readSmsBatchAnswer(body)).toBeUndefined(),
);

test('a batch answer without messages differs from one with an empty list', () => {
  for (const body of [{}, { messages: null }]) expect(readSmsBatchAnswer(body)).toMatchObject({ messages: undefined });
  expect(readSmsBatchAnswer({ messages: [] })?.messages).toEqual([]);
});

test('a count is a number or its digits', () => {
  const read = (count: unknown) => readSmsBatchAnswer({ acceptedCount: count, rejectedCount: count });
  for (const count of [3, '3']) expect(read(count)).toMatchObject({ acceptedCount: 3, rejectedCount: 3 });
});

test.each(['three', '', 2.5, null, Number.NaN, true])('no count is taken from %s', (count) => {
  const nothing = { acceptedCount: undefined, rejectedCount: undefined };
  expect(readSmsBatchAnswer({ acceptedCount: count, rejectedCount: count })).toMatchObject(nothing);
});

test('a cancel says how many it took back, or nothing that counts', () => {
  const read = (body: unknown) => cancelBatch.read(aResponse(body), { batchId: 'b' });
  expect(read({ cancelledCount: 0 })).toEqual({ cancelledCount: 0 });
  for (const body of [...NO_OBJECTS, {}, { cancelledCount: 'all' }]) expect(read(body)).toBeUndefined();
});
