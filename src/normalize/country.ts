import { alpha2ByAlpha3, alpha2Codes, findCountriesByName } from './country-names.js';

export type CountryResult =
  | { readonly ok: true; readonly country: string }
  | { readonly ok: false; readonly reason: string };

/** Common abbreviations of countries that are not ISO codes. */
const HABITS: ReadonlyMap<string, string> = new Map([
  ['UK', 'GB'],
  ['EL', 'GR'],
  ['UAE', 'AE'],
  ['KSA', 'SA'],
]);

const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });

/** Longer than any name of a country; longer texts are not quoted. */
const MAX_QUOTED = 40;

/** A cache: a file has few countries in many rows; bounded, since a wrong column has as many texts as rows. */
const MOST_KNOWN = 1000;
const known = new Map<string, CountryResult>();

/**
 * Alpha-2 in any case, blanks around it allowed; alpha-3; a name in one of the usual languages, whatever its case and
 * accents. For an ambiguous name the reason lists the codes to choose from.
 */
export function normalizeCountry(text: string): CountryResult {
  const found = known.get(text);
  if (found !== undefined) return found;
  const result = readCountry(text.trim());
  if (known.size >= MOST_KNOWN) known.clear();
  if (text.length <= MAX_QUOTED) known.set(text, result);
  return result;
}

function readCountry(written: string): CountryResult {
  const upper = written.toUpperCase();
  if (alpha2Codes.has(upper)) return { ok: true, country: upper };
  if (written === '') return { ok: false, reason: 'The country is empty, expected a two-letter code such as SG.' };
  const [country, ...others] = listCountries(written, upper);
  if (country !== undefined && others.length === 0) return { ok: true, country };

  const what = written.length <= MAX_QUOTED && !/\p{C}/u.test(written) ? `"${written}"` : 'The cell';
  if (country === undefined)
    return { ok: false, reason: `${what} is not a country, expected a name or a two-letter code such as SG.` };
  const choice = [country, ...others].map((code) => `${code} (${nameCountry(code)})`).join(' or ');
  return { ok: false, reason: `${what} is the name of several countries, write ${choice}.` };
}

/** Two letters are always a code, even if a language abbreviates a name so. Three in capitals are one; `Nga` may be Vietnamese for Russia. */
function listCountries(written: string, upper: string): readonly string[] {
  const code = HABITS.get(upper) ?? alpha2ByAlpha3.get(upper);
  const named =
    /^[A-Z]{2}$/.test(upper) || (code !== undefined && written === upper) ? [] : findCountriesByName(written);
  return code === undefined ? named : [...new Set([code, ...named])];
}

/** English name for messages; the code itself if it has no name. `code` must be a country's. */
export function nameCountry(code: string): string {
  return names.of(code) ?? code;
}
