import { describe, expect, it } from 'vitest';
import { CUSTOMER_LANGUAGES } from '../../src/domain/service-facts.js';
import { createLanguageReader } from '../../src/kinds/conversations/conversation-user.js';

const read = createLanguageReader(CUSTOMER_LANGUAGES);

describe('language of a customer', () => {
  it.each(CUSTOMER_LANGUAGES)('%s is one in any case, with a low line too', (code) => {
    for (const text of [code, code.toUpperCase(), code.toLowerCase(), ` ${code.replace('-', '_')} `]) {
      expect(read(text)).toEqual({ ok: true, language: code });
    }
  });

  it.each([
    ['en-GB', 'en'],
    ['pt_BR', 'pt'],
    ['de-AT', 'de'],
    ['sr-Latn-RS', undefined],
    ['es-419', 'es'],
  ])('%s is read as %s: the service does not tell countries apart', (text, language) => {
    expect(read(text)).toMatchObject(language === undefined ? { ok: false } : { ok: true, language });
  });

  it.each(['zh', 'ZH', 'zh-HK', 'zh-Hant'])('%s is refused with the two that it may be', (text) => {
    expect(read(text)).toMatchObject({ code: 'bad-language', reason: expect.stringMatching(/zh-CN or zh-TW\.$/) });
  });

  it.each(['', 'English', 'id', 'e', 'eng', 'en-', 'en US', 'en;de', '__proto__', 'constructor', '中文'])(
    '%j is refused',
    (text) => {
      const expected = { ok: false, code: 'bad-language', reason: expect.stringMatching(/en, ru, de\.$/) };
      expect(read(text)).toMatchObject(expected);
    },
  );

  it('is not quoted back where it is long or cannot be shown', () => {
    for (const text of ['x'.repeat(41), 'e\u0000n', 'e\u202en']) {
      expect(read(text)).toMatchObject({ reason: expect.stringMatching(/^The value is not one of/) });
    }
  });

  it('may be one that the job adds, exactly so before the shorter one', () => {
    const more = createLanguageReader([...CUSTOMER_LANGUAGES, 'id', 'en-US']);
    expect([more('ID'), more('id-ID'), more('en-us'), more('en-GB')]).toMatchObject(
      ['id', 'id', 'en-US', 'en'].map((language) => ({ language })),
    );
  });
});
