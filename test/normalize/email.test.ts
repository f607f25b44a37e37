import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isPlausibleEmail } from '../../src/normalize/contact.js';

describe('email address', () => {
  it.each(['jane@example.com', 'jane.o+sale@mail.example.co.uk', "o'neil@example.sg", 'a@b.co', 'jörg@müller.de'])(
    '%s is one',
    (text) => expect(isPlausibleEmail(text)).toBe(true),
  );

  it.each([
    '',
    '@',
    'jane',
    'jane@',
    '@example.com',
    'jane@example',
    'jane@@example.com',
    'jane@example..com',
    'jane@.example.com',
    'jane@example.com.',
    'jane@-example.com',
    '.jane@example.com',
    'ja..ne@example.com',
    'jane doe@example.com',
    'jane@exam ple.com',
    'Jane <jane@example.com>',
    'a@example.com,b@example.com',
    'jane@127.0.0.1',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(64)}.com`,
  ])('%j is none', (text) => expect(isPlausibleEmail(text)).toBe(false));

  it('is accepted wherever zod accepts it, within the lengths of its parts', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (text) => {
        if (z.email().safeParse(text).success) expect(isPlausibleEmail(text)).toBe(true);
      }),
    );
  });

  it('costs no time, however it is built', () => {
    const hostile = [
      `${'a.'.repeat(500_000)}@`,
      `a@${'a-'.repeat(500_000)}`,
      `a@${'a.'.repeat(500_000)}1`,
      '@'.repeat(1_000_000),
    ];
    for (const text of hostile) expect(isPlausibleEmail(text)).toBe(false);
  }, 3_000);
});
