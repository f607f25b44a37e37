import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTextDigest, listTexts } from '../../src/kinds/sms/sms-texts.js';

const SOMETIMES = { freq: 2, nil: undefined };
const piece = fc.constantFrom(
  'a',
  'Hi P9.',
  ' ',
  '"',
  '\\',
  '\n',
  'ü',
  '😀',
  '\u2028',
  '\ud800',
  '","text":"',
  '{"destination":"+1',
);
const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
const destination = fc.integer({ min: 1_000_000, max: 999_999_999_999_999 }).map((digits) => `+${digits}`);

test('what messages say is read from the bytes as parsing them gives it', () => {
  const template = fc.record({ source: fc.option(text, SOMETIMES), text: fc.option(text, SOMETIMES) });
  const messages = fc.array(fc.record({ destination, text }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(template, messages, (shared, own) => {
      const written = own.map((message, at) => {
        const { destination, text } = message;
        return { destination, ...(shared.text === undefined && { text }), clientMessageId: `p-1-${at}` };
      });
      const body = Buffer.from(JSON.stringify({ clientBatchId: 'p-1', template: shared, messages: written }));

      const digest = createTextDigest(shared.source);
      expect(listTexts(body)).toEqual(
        own.map((message) => {
          return { number: Number(message.destination), text: digest(shared.text ?? message.text) };
        }),
      );
    }),
    { numRuns: 2_000 },
  );
});
