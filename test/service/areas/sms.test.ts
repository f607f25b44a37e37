import { describe, expect, test } from 'vitest';
import { readSmsBatchAnswer } from '../../../src/service/areas/sms.js';

describe('sms batch answer', () => {
  const message = {
    umid: 'u-1',
    clientMessageId: 'm-1',
    destination: '+6591234567',
    encoding: 'GSM7',
    status: { code: 'QUEUED', description: 'SMS is accepted and queued for processing' },
  };

  test('gives the ids, the counts and each message', () => {
    const body = { batchId: 'b', clientBatchId: 'c', acceptedCount: 1, rejectedCount: 0, messages: [message] };
    expect(readSmsBatchAnswer(body)).toEqual({
      batchId: 'b',
      clientBatchId: 'c',
      acceptedCount: 1,
      rejectedCount: 0,
      messages: [
        {
          umid: 'u-1',
          clientMessageId: 'm-1',
          destination: '+6591234567',
          code: 'QUEUED',
          description: 'SMS is accepted and queued for processing',
        },
      ],
    });
  });

  test.each([undefined, null, '', 'OK', 5, [], [message], { messages: 'none' }, { messages: {} }])(
    'is undefined for %j, which is none',
    (body) => {
      expect(readSmsBatchAnswer(body)).toBeUndefined();
    },
  );

  test.each([{}, { messages: null }])(
    'without messages (%j) says that there are none, which differs from an empty list',
    (body) => {
      expect(readSmsBatchAnswer({ acceptedCount: 3, ...body })).toMatchObject({
        acceptedCount: 3,
        messages: undefined,
      });
      expect(readSmsBatchAnswer({ messages: [] })?.messages).toEqual([]);
    },
  );

  test.each(['3', 2.5, null, Number.NaN, true])('takes no count from %s', (count) => {
    expect(readSmsBatchAnswer({ acceptedCount: count, rejectedCount: count })).toMatchObject({
      acceptedCount: undefined,
      rejectedCount: undefined,
    });
  });

  test('omits what is no message, and gives empty words where a message lacks them', () => {
    const messages = [
      null,
      'x',
      [message],
      {},
      { umid: 7, clientMessageId: 8, destination: 6591234567, status: 'QUEUED' },
    ];
    expect(readSmsBatchAnswer({ messages })?.messages).toEqual([
      { umid: '', clientMessageId: undefined, destination: '', code: '', description: '' },
      { umid: '', clientMessageId: 8, destination: '6591234567', code: '', description: '' },
    ]);
  });
});
