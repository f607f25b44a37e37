import { alpha2Codes } from './country-codes.js';

/** The languages that most files of customers are written in, as CLDR names them. */
const LANGUAGES =
  'en de fr es pt it nl pl sv da nb fi cs hu ro el tr ru uk ar he zh zh-Hant ja ko id ms th vi fil hi'.split(' ');
const STYLES = ['long', 'short'] as const;

/** Common names that CLDR no longer has, or never had. */
const HABITS: readonly (readonly [codes: string, names: string])[] = [
  ['US', 'America, United States of America, The United States, U.S.A.'],
  [
    'GB',
    'Great Britain, Britain, England, Scotland, Wales, Northern Ireland, The United Kingdom, United Kingdom of Great Britain and Northern Ireland',
  ],
  ['AE', 'Emirates'],
  ['NL', 'Holland, The Netherlands'],
  ['CZ', 'Czech Republic'],
  ['RU', 'Russian Federation'],
  ['TR', 'Turkey'],
  ['KR', 'Republic of Korea, Korea Republic of, Korea South'],
  ['KP', "Democratic People's Republic of Korea, Korea Democratic People's Republic of, Korea North"],
  ['VN', 'Viet Nam'],
  ['CI', 'Ivory Coast'],
  ['SZ', 'Swaziland'],
  ['MK', 'Macedonia'],
  ['MM', 'Burma'],
  ['CV', 'Cabo Verde'],
  ['TL', 'East Timor'],
  ['LA', "Lao People's Democratic Republic"],
  ['SY', 'Syrian Arab Republic'],
  ['BN', 'Brunei Darussalam'],
  ['IR', 'Iran Islamic Republic of, Islamic Republic of Iran'],
  ['TZ', 'Tanzania United Republic of, United Republic of Tanzania'],
  ['MD', 'Moldova Republic of, Republic of Moldova'],
  ['BO', 'Bolivia Plurinational State of'],
  ['VE', 'Venezuela Bolivarian Republic of'],
  ['TW', 'Taiwan Province of China'],
  ['PS', 'State of Palestine, Palestine State of'],
  ['VA', 'Holy See'],
  ['FM', 'Federated States of Micronesia'],
  ['CD', 'Democratic Republic of the Congo, DR Congo'],
  ['CG', 'Republic of the Congo'],
  ['CG CD', 'Congo'],
  ['KR KP', 'Korea'],
  ['VG VI', 'Virgin Islands'],
];

let codesByName: ReadonlyMap<string, ReadonlySet<string>> | undefined;

/**
 * The countries of a name in one of the usual languages, whatever its case and accents: several if ambiguous, none if
 * unknown.
 */
export function findCountriesByName(name: string): readonly string[] {
  codesByName ??= listNames();
  return [...(codesByName.get(foldName(name)) ?? [])];
}

function listNames(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  const add = (name: string, code: string) => {
    const folded = foldName(name);
    const codes = found.get(folded) ?? new Set();
    if (folded !== '') found.set(folded, codes.add(code));
  };
  for (const language of LANGUAGES) {
    for (const style of STYLES) {
      const names = new Intl.DisplayNames([language], { type: 'region', style, fallback: 'none' });
      for (const code of alpha2Codes) for (const name of listWritings(names.of(code) ?? '')) add(name, code);
    }
  }
  for (const [codes, names] of HABITS) {
    for (const name of names.split(',')) for (const code of codes.split(' ')) add(name, code);
  }
  return found;
}

/** `Myanmar (Burma)` is both, `Österreich` is `Oesterreich` where there is no umlaut, and Hong Kong is meant without its SAR. */
function listWritings(name: string): string[] {
  const [bare = name] = name.replace(/ SAR China$/, '').split('(');
  const umlauts = { ä: 'ae', ö: 'oe', ü: 'ue', Ä: 'Ae', Ö: 'Oe', Ü: 'Ue' } as const;
  const plain = bare.replace(/[äöüÄÖÜ]/g, (letter) => umlauts[letter as keyof typeof umlauts]);
  return [name, bare, plain];
}

/** Longer than any name. */
const MAX_NAME = 100;

/** Without case, accents, punctuation and blanks: `Côte d’Ivoire` and `cote d'ivoire` are the same. */
function foldName(name: string): string {
  return name
    .slice(0, MAX_NAME)
    .normalize('NFD')
    .replace(/[\u0300-\u036F]/g, '')
    .replace(/[^\p{L}\p{M}]/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFC');
}
