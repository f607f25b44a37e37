import { getCountries } from 'libphonenumber-js/max';
import { describe, expect, it } from 'vitest';
import { alpha2ByAlpha3, alpha2Codes, nameCountry, normalizeCountry } from '../../src/normalize/country.js';

describe('country', () => {
  it('is an ISO alpha-2 code in any case, with blanks around it', () => {
    for (const text of ['SG', 'sg', ' Sg ']) expect(normalizeCountry(text)).toEqual({ ok: true, country: 'SG' });
  });

  it.each([
    ['Singapore', 'SG'],
    [' singapore ', 'SG'],
    ['VIET NAM', 'VN'],
    ['vietnam', 'VN'],
    ['Cote d’Ivoire', 'CI'],
    ["CÔTE D'IVOIRE", 'CI'],
    ['Hong Kong', 'HK'],
    ['Hong Kong SAR', 'HK'],
    ['香港', 'HK'],
    ['États-Unis', 'US'],
    ['U.S.A.', 'US'],
    ['UK', 'GB'],
    ['U.K.', 'GB'],
    ['Vereinigtes Koenigreich', 'GB'],
    ['Türkiye', 'TR'],
    ['Turkey', 'TR'],
    ['İsveç', 'SE'],
    ['Myanmar', 'MM'],
    ['Burma', 'MM'],
    ['PHL', 'PH'],
  ])('%s is %s', (text, country) => {
    expect(normalizeCountry(text)).toEqual({ ok: true, country });
  });

  it.each(['65', 'ZZ', 'VS', 'XX', 'Narnia', 'Europe', '__proto__', 'constructor', '…', '-'])(
    '%s is refused',
    (text) => {
      expect(normalizeCountry(text)).toMatchObject({ ok: false, reason: expect.stringContaining('is not a country') });
    },
  );

  it.each([
    ['Congo', 'CG (Congo - Brazzaville) or CD (Congo - Kinshasa)'],
    ['Korea', 'KR (South Korea) or KP (North Korea)'],
    ['Saint Martin', 'MF (St. Martin) or SX (Sint Maarten)'],
  ])('%s is the name of several, which the reason names', (text, choice) => {
    const expected = { ok: false, reason: `"${text}" is the name of several countries, write ${choice}.` };
    expect(normalizeCountry(text)).toEqual(expected);
  });

  it('is known by its name in the languages of most files, all of them, save where several have it', () => {
    const several = new Set<string>();
    for (const language of ['en', 'de', 'fr', 'es', 'zh', 'pt', 'it', 'ja', 'nl', 'id', 'th', 'vi']) {
      const names = new Intl.DisplayNames([language], { type: 'region' });
      for (const code of alpha2Codes) {
        const name = names.of(code) ?? '';
        const read = normalizeCountry(name);
        if (read.ok) expect([language, name, read.country]).toEqual([language, name, code]);
        else several.add(name);
      }
    }
    expect([...several].sort()).toEqual(['Congo', 'Nga', 'Saint Martin', 'Saint-Martin']);
  });

  it.each([
    [
      'GB',
      'Großbritannien, Grossbritannien, England, Schottland, Nordirland, Grande-Bretagne, Angleterre, Pays de Galles',
    ],
    ['GB', 'Gran Bretaña, Inglaterra, Gran Bretagna, Inghilterra, Grã-Bretanha, Groot-Brittannië, Engeland, Inggris'],
    ['GB', 'Britania Raya, อังกฤษ, สหราชอาณาจักร, Anh, Anh Quốc, Vương quốc Anh'],
    ['NL', 'Holland, Niederlande, Hollande, Holanda, Olanda, Nederland, Belanda, ฮอลแลนด์, Hà Lan'],
    [
      'US',
      'USA, Amerika, Vereinigte Staaten von Amerika, Etats-Unis, Amérique, Estados Unidos de América, EE.UU., EEUU',
    ],
    ['US', "Stati Uniti d'America, EUA, Verenigde Staten, Amerika Serikat, สหรัฐ, อเมริกา, Hoa Kỳ, Mỹ"],
    ['DE', 'Bundesrepublik Deutschland, BRD, Allemagne, Alemania, Germania, Alemanha, Duitsland, Jerman, เยอรมัน, Đức'],
    ['AT', 'Österreich, Oesterreich, Autriche, Áustria, Oostenrijk, ออสเตรีย, Áo'],
    ['CZ', 'Tschechei, Tschechische Republik, République tchèque, República Checa, Repubblica Ceca, República Tcheca'],
    ['CI', 'Elfenbeinküste, Costa de Marfil, Costa d’Avorio, Costa do Marfim, Ivoorkust, Pantai Gading, Bờ Biển Ngà'],
    ['MM', 'Birma, Birmanie, Birmania, Birmânia, พม่า, Miến Điện'],
    ['BY', 'Weißrussland, Weissrussland, Biélorussie, Wit-Rusland'],
    ['AE', 'Vereinigte Arabische Emirate, VAE, Emirate, Émirats arabes unis'],
    ['RU', 'Russland, Russische Föderation, Rusia, Liên bang Nga, รัสเซีย'],
  ])('%s is known by the names that people use: %s', (country, names) => {
    for (const name of names.split(', ')) expect([name, normalizeCountry(name)]).toEqual([name, { ok: true, country }]);
  });

  it('of three letters is a code in capitals; else a name with that spelling counts too', () => {
    expect(normalizeCountry('NGA')).toEqual({ ok: true, country: 'NG' });
    const expected = { ok: false, reason: expect.stringContaining('NG (Nigeria) or RU (Russia)') };
    expect(normalizeCountry('Nga')).toMatchObject(expected);
    expect(normalizeCountry('deu')).toEqual({ ok: true, country: 'DE' });
  });

  it('quotes no long text and no control characters back', () => {
    for (const text of ['x'.repeat(1_000_000), 'S\u001B[31mG']) {
      const result = normalizeCountry(text);
      const reason = 'The cell is not a country, expected a name or a two-letter code such as SG.';
      expect(result).toEqual({ ok: false, reason });
    }
  });

  it('has a name for messages', () => {
    expect(nameCountry('SG')).toBe('Singapore');
    expect(nameCountry('QQ')).toBe('QQ');
  });

  it('is known by all 249 codes of ISO 3166-1 and all countries of the library', () => {
    expect(alpha2ByAlpha3.size).toBe(249);
    expect(new Set(alpha2ByAlpha3.values()).size).toBe(249);
    for (const [alpha3, alpha2] of alpha2ByAlpha3) {
      expect(alpha3).toMatch(/^[A-Z]{3}$/);
      expect(nameCountry(alpha2)).not.toBe(alpha2);
    }
    expect(getCountries().filter((country) => !alpha2Codes.has(country))).toEqual([]);
  });
});
