import { alpha2ByAlpha3, alpha2Codes } from './country-codes.js';

export type CountryResult =
  | { readonly ok: true; readonly country: string }
  | { readonly ok: false; readonly reason: string };

/** Letters that people write for a country, and that ISO gives to none. */
const HABITS: ReadonlyMap<string, string> = new Map([
  ['UK', 'GB'],
  ['EL', 'GR'],
  ['UAE', 'AE'],
  ['KSA', 'SA'],
]);

const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
const codeByName: ReadonlyMap<string, string> = new Map(
  [...alpha2Codes].map((code): [string, string] => [foldName(names.of(code) ?? code), code]),
);

/** Longer than any name of a country; what is longer is not quoted back. */
const MAX_QUOTED = 40;

/** Alpha-2 in any case, blanks around it allowed; for a name or alpha-3 the reason says which code to write. */
export function normalizeCountry(text: string): CountryResult {
  const written = text.trim();
  const upper = written.toUpperCase();
  if (alpha2Codes.has(upper)) return { ok: true, country: upper };

  if (written === '') return { ok: false, reason: 'The country is empty, expected a two-letter code such as SG.' };
  const likely = suggestCountry(written);
  const what = written.length <= MAX_QUOTED && !/\p{C}/u.test(written) ? `"${written}"` : 'The country';
  const instead = likely === undefined ? 'expected one such as SG' : `write ${likely}`;
  return { ok: false, reason: `${what} is not a two-letter country code, ${instead}.` };
}

const nameByCode = new Map<string, string>();

/** English name for messages; the code itself where there is no name. `code` is a country's: what it is called is kept. */
export function nameCountry(code: string): string {
  const known = nameByCode.get(code);
  if (known !== undefined) return known;
  const name = names.of(code) ?? code;
  nameByCode.set(code, name);
  return name;
}

function suggestCountry(written: string): string | undefined {
  const upper = written.toUpperCase();
  return HABITS.get(upper) ?? alpha2ByAlpha3.get(upper) ?? codeByName.get(foldName(written));
}

/** Without case, accents, punctuation and additions: `Côte d’Ivoire` and `cote d'ivoire` are the same. */
function foldName(name: string): string {
  return name
    .slice(0, 100)
    .replace(/\(.*\)| SAR China$/g, '')
    .normalize('NFD')
    .replace(/[^\p{L}]/gu, '')
    .toLowerCase();
}
