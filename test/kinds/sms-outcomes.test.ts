import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientBatchIdOf } from '../../src/kinds/ids.js';
import { smsKind } from '../../src/kinds/sms/sms.js';
import { aBatchAnswer, aMessage, aPart, aResponse, messageIdOf, REJECTED, rowsOf, statusesOf, told } from './a-part.js';

const part = aPart();
const all = rowsOf(part).map((row) => aMessage(part, row));
/** As it is posted: a row's number ends with its own. */
const bodyOf = (of = part) =>
  Buffer.from(
    JSON.stringify({ messages: rowsOf(of).map((row) => ({ destination: numberOf(row), text: '{"destination":"+1' })) }),
  );
const numberOf = (row: number) => `+65900000${row}`;
const read = (body: unknown, of = part) => smsKind.readOutcomes(aResponse(body), of, bodyOf(of));
const readMessages = (messages: unknown, changes = {}) => read(aBatchAnswer(part, messages, changes));
const IN_DOUBT = Array(5).fill('in-doubt');

describe('answer to a batch', () => {
  it('gives every row its status and umid, and the batch id to all', () => {
    const outcomes = readMessages(all.with(1, aMessage(part, 21, REJECTED)));
    expect(told(outcomes)).toEqual([
      ['accepted QUEUED', 'umid-20'],
      ['rejected REJECTED', 'umid-21'],
      ['accepted QUEUED', 'umid-22'],
      ['accepted QUEUED', 'umid-23'],
      ['accepted QUEUED', 'umid-24'],
    ]);
    expect(outcomes.verdicts.map(({ reason }) => reason)).toEqual(['SMS is accepted', 'Invalid MSISDN format']);
    expect(outcomes.shared).toEqual(['batch-1']);
  });

  it('is joined by clientMessageId: whatever the order of messages, each row gets the same', () => {
    const messages = rowsOf(part).map((row) => (row % 2 === 0 ? aMessage(part, row) : aMessage(part, row, REJECTED)));
    const expected = told(readMessages(messages));
    fc.assert(
      fc.property(fc.shuffledSubarray(messages, { minLength: 5 }), (shuffled) => {
        expect(told(readMessages(shuffled))).toEqual(expected);
      }),
    );
  });

  it('that leaves rows out puts exactly those in doubt, whichever they are', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(rowsOf(part)), (named) => {
        const outcomes = readMessages(named.map((row) => aMessage(part, row)));
        expect(statusesOf(outcomes)).toEqual(
          rowsOf(part).map((row) => (named.includes(row) ? 'accepted' : 'in-doubt')),
        );
      }),
    );
  });

  it.each([
    ['with a plus', numberOf],
    ['without', (row: number) => numberOf(row).slice(1)],
    ['as a number', (row: number) => Number(numberOf(row))],
    ['with zeros in front', (row: number) => `00${numberOf(row).slice(1)}`],
    ['with blanks', (row: number) => `+65 9000-00${row}`],
    ['masked', () => '65****00'],
    ['as null', () => null],
  ])('may repeat the number %s', (_, destination) => {
    const outcomes = readMessages(rowsOf(part).map((row) => aMessage(part, row, { destination: destination(row) })));
    expect(statusesOf(outcomes)).toEqual(Array(5).fill('accepted'));
  });

  it('whose ids were exchanged among its messages says nothing of them: the number is another', () => {
    const answers = rowsOf(part).map((row) =>
      aMessage(part, row, { ...(row === 20 ? REJECTED : {}), destination: numberOf(row) }),
    );
    const rotated = answers.map((answer, at) => ({
      ...answer,
      clientMessageId: messageIdOf(part, 20 + ((at + 1) % 5)),
    }));
    expect(told(readMessages(rotated))).toEqual(Array(5).fill(['in-doubt contradiction']));
    const exchanged = answers.map((answer, at) => ({
      ...answer,
      clientMessageId: messageIdOf(part, 20 + ([1, 0][at] ?? at)),
    }));
    expect(statusesOf(readMessages(exchanged))).toEqual(['in-doubt', 'in-doubt', 'accepted', 'accepted', 'accepted']);
  });

  it('for a part of a request is joined to the rows of that part', () => {
    const half = aPart({ part: '1', first: 23, count: 2 });
    const body = aBatchAnswer(half, [aMessage(half, 24, REJECTED), aMessage(half, 23)]);
    expect(told(read(body, half))).toEqual([
      ['accepted QUEUED', 'umid-23'],
      ['rejected REJECTED', 'umid-24'],
    ]);
  });

  it('that says the same of a row twice holds, with the first umid', () => {
    const outcomes = readMessages([...all, aMessage(part, 20, { umid: 'another' })]);
    expect(told(outcomes)[0]).toEqual(['accepted QUEUED', 'umid-20']);
  });

  it('that says two things of a row puts that row in doubt, in either order and however often', () => {
    const yes = aMessage(part, 20);
    const no = aMessage(part, 20, REJECTED);
    for (const messages of [
      [yes, no],
      [no, yes],
      [yes, no, yes],
      [no, yes, no, no],
      [yes, yes, no],
    ]) {
      expect(told(readMessages([...all.slice(1), ...messages]))[0]).toEqual(['in-doubt contradiction']);
    }
  });

  it('with the same umid for every row is no trouble: nothing is joined by it', () => {
    const outcomes = readMessages(
      rowsOf(part).map((row) => aMessage(part, row, row === 22 ? { ...REJECTED, umid: 'u' } : { umid: 'u' })),
    );
    expect(statusesOf(outcomes)).toEqual(['accepted', 'accepted', 'rejected', 'accepted', 'accepted']);
  });

  it('with a status that the contract does not name puts the row in doubt', () => {
    for (const status of [{ code: 'SENT' }, {}, null, 'QUEUED', undefined]) {
      const outcomes = readMessages(all.with(2, aMessage(part, 22, { status })));
      expect(told(outcomes)[2]).toEqual(['in-doubt unknown-status', 'umid-22']);
      expect(statusesOf(outcomes).filter((each) => each === 'accepted')).toHaveLength(4);
    }
  });

  it('may write a status in small letters, as receipts do', () => {
    const lower = [{ code: 'queued' }, { code: 'rejected' }].map((status, at) => aMessage(part, 20 + at, { status }));
    expect(statusesOf(readMessages([...lower, ...all.slice(2)]))).toEqual(
      IN_DOUBT.map((_, at) => (at === 1 ? 'rejected' : 'accepted')),
    );
  });

  it('for another batch puts every row in doubt, though it names our rows', () => {
    expect(told(readMessages(all, { clientBatchId: 'another-batch' }))).toEqual(
      Array(5).fill(['in-doubt foreign-answer']),
    );
  });

  it('that only counts, and does not say that it is for our batch, puts every row in doubt', () => {
    const counts = { acceptedCount: 5, rejectedCount: 0, messages: null };
    expect(told(read(counts))).toEqual(Array(5).fill(['in-doubt no-message-results']));
    expect(told(read({ ...counts, clientBatchId: clientBatchIdOf(part), batchId: 'b' }))[0]?.[0]).toBe(
      'accepted ACCEPTED',
    );
  });

  it('without a clientBatchId is still joined by its messages', () => {
    for (const clientBatchId of [null, ''])
      expect(statusesOf(readMessages(all, { clientBatchId }))).toEqual(Array(5).fill('accepted'));
  });

  it.each<[string, unknown]>([
    ['of another plan', 'otherotherot-1-20'],
    ['of another step', messageIdOf({ ...part, step: 2 }, 20)],
    ['of a row of another request', messageIdOf(part, 25)],
    ['with a leading zero', `${messageIdOf(part, 2)}`.replace(/2$/, '020')],
    ['with a sign', messageIdOf(part, -20)],
    ['with a fraction', `${messageIdOf(part, 20)}.0`],
    ['with something behind it', `${messageIdOf(part, 20)} `],
    ['that is a number', 20],
    ['that is missing', undefined],
  ])('with an id %s omits the row', (_what, clientMessageId) => {
    const outcomes = readMessages([{ ...aMessage(part, 20), clientMessageId }, ...all.slice(1)]);
    expect(told(outcomes)).toEqual([
      ['in-doubt not-accounted-for'],
      ...all.slice(1).map(({ umid }) => ['accepted QUEUED', umid]),
    ]);
  });

  it('with messages that are no objects reads the others', () => {
    expect(statusesOf(readMessages([null, 'x', 7, [], ...all]))).toEqual(Array(5).fill('accepted'));
  });
});

describe('answer without messages', () => {
  it('that counts every row as accepted means so, without umids', () => {
    for (const messages of [null, undefined]) {
      const outcomes = readMessages(messages);
      expect(told(outcomes)).toEqual(Array(5).fill(['accepted ACCEPTED']));
      expect(outcomes.shared).toEqual(['batch-1']);
      expect(outcomes.verdicts[0]?.reason).toContain('no message ids');
    }
  });

  it.each([
    { acceptedCount: 4, rejectedCount: 1 },
    { acceptedCount: 4, rejectedCount: 0 },
    { acceptedCount: 6, rejectedCount: 0 },
    { acceptedCount: 5, rejectedCount: 1 },
    { acceptedCount: 0, rejectedCount: 5 },
    { acceptedCount: 'five' },
    { acceptedCount: null },
  ])('that counts %j puts every row in doubt', (counts) => {
    expect(told(readMessages(null, counts))).toEqual(Array(5).fill(['in-doubt no-message-results']));
  });

  it('for another batch puts every row in doubt, though its count fits', () => {
    expect(told(readMessages(null, { clientBatchId: 'x' }))[0]).toEqual(['in-doubt foreign-answer']);
  });
});

describe('2xx answer that is no batch’s', () => {
  it.each(['', '{', 'null', '7', '"ok"', '[]', '<html>', '{"messages":{}}', '{"messages":"none"}'])(
    '%j puts every row in doubt',
    (body) => {
      expect(told(read(body))).toEqual(Array(5).fill(['in-doubt unreadable-answer']));
    },
  );

  it('puts every row in doubt whatever it is: a verdict is never made up', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        expect(statusesOf(read(body))).toEqual(IN_DOUBT);
      }),
    );
  });
});
