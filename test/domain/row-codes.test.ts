import { expect, test } from 'vitest';
import { REJECTION_CODES, ROW_CODES } from '../../src/domain/row-codes.js';

/** Kinds without messages have these too, or messages without a `template` of several keys. */
const OF_SEVERAL_KINDS = ['1000', '1001', '1002', '1004', '1005', '1007', '1300', '3011'];
/** They are of texts, which only sms renders. */
const OF_TEXTS = ['not-rendered', 'empty-text', 'not-gsm7', 'text-too-long'];

test('advice that several kinds of step give names no key of one of them', () => {
  const codes = [...Object.keys(REJECTION_CODES).filter((code) => !OF_TEXTS.includes(code)), ...OF_SEVERAL_KINDS];
  const advice = codes.map((code) => `${code}: ${ROW_CODES[code]?.fix}`);
  expect(advice.filter((each) => /template\.|encoding|batchSize|give a default/.test(each))).toEqual([]);
});
