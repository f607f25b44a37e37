import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { MAX_GROUPS } from '../../src/domain/service-facts.js';
import { isPlausibleEmail, readGroups } from '../../src/normalize/contact.js';

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

const idsOf = (text: string, ofStep: number[] = []) => {
  const groups = readGroups(text, ofStep);
  return 'ids' in groups ? groups.ids : groups.code;
};

describe('groups of a row', () => {
  it.each([
    ['1042', [1042]],
    ['1042;1043', [1042, 1043]],
    [' 1042 , 1043 ', [1042, 1043]],
    ['1042,1043; 7', [1042, 1043, 7]],
    [';1042;;', [1042]],
    [';', []],
    ['[1042,"7"]', [1042, 7]],
    ['[]', []],
    [String(Number.MAX_SAFE_INTEGER), [Number.MAX_SAFE_INTEGER]],
  ])('are the ids of its cell, split by ; or ,: %j', (text, ids) => {
    expect(idsOf(text)).toEqual(ids);
  });

  it('come behind those of the step, each once', () => {
    expect(idsOf('7;1042;7', [1042, 5])).toEqual([1042, 5, 7]);
  });

  it.each([
    'VIP',
    '0',
    '042',
    '1,042',
    '-1',
    '1.5',
    '1042.0',
    '1e3',
    '1042 1043',
    '１',
    '9007199254740993',
    '{"id":1}',
    '[[1]]',
  ])('refuse what is no id: %j', (text) => expect(idsOf(text)).toBe('bad-group'));

  it('say which entry is none, and do not quote it', () => {
    const groups = readGroups('7; Ann Lee', []);
    expect(groups).toMatchObject({ reason: expect.stringContaining('Entry 2 ') });
    expect(JSON.stringify(groups)).not.toContain('Ann');
  });

  it('are 10 at most, those of the step included', () => {
    expect(idsOf('1,2,3,4,5,6,7,8,9,10')).toHaveLength(10);
    expect(idsOf('1,2,3,4,5,6,7,8,9,10', [3, 10])).toHaveLength(10);
    const reason = 'The row names 11 groups, of which 2 come from the job, at most 10 are allowed.';
    expect(readGroups('1,2,3,4,5,6,7,8,9', [10, 11])).toEqual({ code: 'too-many-groups', reason });
  });

  it('are within the limits of the service or refused, whatever the cell holds', () => {
    const cell = fc.oneof(fc.string(), fc.array(fc.oneof(fc.integer(), fc.string()), { maxLength: 14 }).map(String));
    fc.assert(
      fc.property(cell, fc.uniqueArray(fc.integer({ min: 1 }), { maxLength: MAX_GROUPS }), (text, ofStep) => {
        const groups = readGroups(text.trim(), ofStep);
        if ('code' in groups) return;
        expect(groups.ids.length).toBeLessThanOrEqual(MAX_GROUPS);
        expect(new Set(groups.ids).size).toBe(groups.ids.length);
        for (const id of groups.ids) expect(Number.isSafeInteger(id) && id > 0).toBe(true);
      }),
    );
  });
});
