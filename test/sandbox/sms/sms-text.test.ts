import { createRequire } from 'node:module';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { measureText } from '../../../src/sandbox/sms/sms.js';

const splitSms = createRequire(import.meta.url)('split-sms') as {
  split(text: string, options: { characterset: string }): { parts: unknown[]; characterSet: string };
};

test('text never splits an escape or a surrogate pair over two parts', () => {
  expect(measureText(`${'x'.repeat(152)}€${'x'.repeat(152)}`, 'AUTO').parts).toBe(3);
  expect(measureText(`${'ж'.repeat(66)}😀${'ж'.repeat(65)}`, 'AUTO').parts).toBe(2);
  expect(measureText(`${'ж'.repeat(66)}😀${'ж'.repeat(66)}`, 'AUTO').parts).toBe(3);
});

test('text is measured as split-sms measures it', () => {
  const unit = fc.constantFrom('a', 'é', '€', '[', ' ', 'ж', '😀', '`');
  const text = fc.array(unit, { maxLength: 400 }).map((units) => units.join(''));
  fc.assert(
    fc.property(text, (written) => {
      const oracle = splitSms.split(written, { characterset: 'auto' });
      expect(measureText(written, 'AUTO').parts).toBe(Math.max(1, oracle.parts.length));
    }),
  );
});
