import { expect, test } from 'vitest';
import { createTextDigest, listTexts, readSentNumbers } from '../../src/kinds/sms/sms-texts.js';

const aBatch = (template: object, ...messages: readonly object[]) =>
  Buffer.from(JSON.stringify({ clientBatchId: 'b', template, messages }));

test('messages of a batch say their own text, or the one that they share, from its sender', () => {
  const own = aBatch(
    { source: 'ACME' },
    { destination: '+6591234567', text: 'Hi "Ann" ,"text":" \\ 😀' },
    { destination: '+491511234567', text: 'Hi \n' },
  );
  const digest = createTextDigest('ACME');
  expect(listTexts(own)).toEqual([
    { number: 6591234567, text: digest('Hi "Ann" ,"text":" \\ 😀') },
    { number: 491511234567, text: digest('Hi') },
  ]);
  const shared = aBatch({ text: 'Hello' }, { destination: '+6591234567' }, { destination: '+6591234568' });
  expect(listTexts(shared).map(({ text }) => text)).toEqual([createTextDigest()('Hello'), createTextDigest()('Hello')]);
  expect(createTextDigest('ACME')('Hello')).not.toBe(createTextDigest()('Hello'));
});

test('a batch with more or fewer messages than it was planned with is an error', () => {
  const batch = aBatch({}, { destination: '+6591234567' }, { destination: '+6591234568' });
  expect(readSentNumbers(batch, 2)).toEqual([6591234567, 6591234568]);
  expect(() => readSentNumbers(batch, 3)).toThrow('2 numbers in a request of 3 messages');
});
