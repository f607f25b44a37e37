type CountryResult = { readonly ok: true; readonly country: string } | { readonly ok: false; readonly reason: string };

/** Common abbreviations of countries that are not ISO codes. */
const CODE_HABITS: ReadonlyMap<string, string> = new Map([
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
  const code = CODE_HABITS.get(upper) ?? alpha2ByAlpha3.get(upper);
  const named =
    /^[A-Z]{2}$/.test(upper) || (code !== undefined && written === upper) ? [] : findCountriesByName(written);
  return code === undefined ? named : [...new Set([code, ...named])];
}

/** English name for messages; the code itself if it has no name. `code` must be a country's. */
export function nameCountry(code: string): string {
  return names.of(code) ?? code;
}

/** ISO 3166-1, all 249: alpha-3 followed by alpha-2. */
const TABLE = `
ABW AW AFG AF AGO AO AIA AI ALA AX ALB AL AND AD ARE AE ARG AR ARM AM ASM AS ATA AQ ATF TF ATG AG AUS AU AUT AT AZE AZ
BDI BI BEL BE BEN BJ BES BQ BFA BF BGD BD BGR BG BHR BH BHS BS BIH BA BLM BL BLR BY BLZ BZ BMU BM BOL BO BRA BR BRB BB
BRN BN BTN BT BVT BV BWA BW CAF CF CAN CA CCK CC CHE CH CHL CL CHN CN CIV CI CMR CM COD CD COG CG COK CK COL CO COM KM
CPV CV CRI CR CUB CU CUW CW CXR CX CYM KY CYP CY CZE CZ DEU DE DJI DJ DMA DM DNK DK DOM DO DZA DZ ECU EC EGY EG ERI ER
ESH EH ESP ES EST EE ETH ET FIN FI FJI FJ FLK FK FRA FR FRO FO FSM FM GAB GA GBR GB GEO GE GGY GG GHA GH GIB GI GIN GN
GLP GP GMB GM GNB GW GNQ GQ GRC GR GRD GD GRL GL GTM GT GUF GF GUM GU GUY GY HKG HK HMD HM HND HN HRV HR HTI HT HUN HU
IDN ID IMN IM IND IN IOT IO IRL IE IRN IR IRQ IQ ISL IS ISR IL ITA IT JAM JM JEY JE JOR JO JPN JP KAZ KZ KEN KE KGZ KG
KHM KH KIR KI KNA KN KOR KR KWT KW LAO LA LBN LB LBR LR LBY LY LCA LC LIE LI LKA LK LSO LS LTU LT LUX LU LVA LV MAC MO
MAF MF MAR MA MCO MC MDA MD MDG MG MDV MV MEX MX MHL MH MKD MK MLI ML MLT MT MMR MM MNE ME MNG MN MNP MP MOZ MZ MRT MR
MSR MS MTQ MQ MUS MU MWI MW MYS MY MYT YT NAM NA NCL NC NER NE NFK NF NGA NG NIC NI NIU NU NLD NL NOR NO NPL NP NRU NR
NZL NZ OMN OM PAK PK PAN PA PCN PN PER PE PHL PH PLW PW PNG PG POL PL PRI PR PRK KP PRT PT PRY PY PSE PS PYF PF QAT QA
REU RE ROU RO RUS RU RWA RW SAU SA SDN SD SEN SN SGP SG SGS GS SHN SH SJM SJ SLB SB SLE SL SLV SV SMR SM SOM SO SPM PM
SRB RS SSD SS STP ST SUR SR SVK SK SVN SI SWE SE SWZ SZ SXM SX SYC SC SYR SY TCA TC TCD TD TGO TG THA TH TJK TJ TKL TK
TKM TM TLS TL TON TO TTO TT TUN TN TUR TR TUV TV TWN TW TZA TZ UGA UG UKR UA UMI UM URY UY USA US UZB UZ VAT VA VCT VC
VEN VE VGB VG VIR VI VNM VN VUT VU WLF WF WSM WS YEM YE ZAF ZA ZMB ZM ZWE ZW`;

const words = TABLE.trim().split(/\s+/);

/** Alpha-3 → alpha-2, all of ISO 3166-1. */
export const alpha2ByAlpha3: ReadonlyMap<string, string> = new Map(
  words.flatMap((word, at): [string, string][] => (at % 2 === 0 ? [[word, words[at + 1] ?? '']] : [])),
);

/** Alpha-2 codes in use: ISO 3166-1, and Kosovo (XK), Ascension (AC) and Tristan da Cunha (TA), which have numbers. */
export const alpha2Codes: ReadonlySet<string> = new Set([...alpha2ByAlpha3.values(), 'XK', 'AC', 'TA']);

/** The languages that most files of customers are written in, as CLDR names them. */
const LANGUAGES =
  'en de fr es pt it nl pl sv da nb fi cs hu ro el tr ru uk ar he zh zh-Hant ja ko id ms th vi fil hi'.split(' ');
const STYLES = ['long', 'short'] as const;

/** Common names that CLDR no longer has, or never had: in English, German, French, Spanish, Italian, Portuguese, Dutch, Indonesian, Thai and Vietnamese. */
const HABITS: readonly (readonly [codes: string, names: string])[] = [
  ['US', 'America, United States of America, The United States, U.S.A.'],
  ['US', 'Amerika, Vereinigte Staaten von Amerika, Amérique, États-Unis d’Amérique, Estados Unidos de América'],
  ['US', 'Stati Uniti d’America, Estados Unidos da América, Verenigde Staten van Amerika, สหรัฐ, อเมริกา, Mỹ, Nước Mỹ'],
  ['US', 'EE.UU., EUA'],
  ['GB', 'Great Britain, Britain, The United Kingdom, United Kingdom of Great Britain and Northern Ireland'],
  ['GB', 'Großbritannien, Großbrittannien, Vereinigtes Königreich Großbritannien, Grande-Bretagne, Gran Bretaña'],
  ['GB', 'Gran Bretagna, Grã-Bretanha, Groot-Brittannië, Groot-Britannië, Britania Raya, บริเตนใหญ่'],
  ['GB', 'England, Angleterre, Inglaterra, Inghilterra, Engeland, Inggris, อังกฤษ, Anh, Anh Quốc, Nước Anh'],
  ['GB', 'Scotland, Schottland, Écosse, Escocia, Scozia, Escócia, Schotland, Skotlandia, สกอตแลนด์'],
  ['GB', 'Wales, Pays de Galles, Gales, Galles, País de Gales'],
  [
    'GB',
    'Northern Ireland, Nordirland, Irlande du Nord, Irlanda del Norte, Irlanda del Nord, Irlanda do Norte, Noord-Ierland',
  ],
  ['NL', 'Holland, The Netherlands, Die Niederlande, Hollande, Holanda, Olanda, ฮอลแลนด์'],
  ['DE', 'Bundesrepublik Deutschland, BRD, เยอรมัน'],
  ['AT', 'Republik Österreich'],
  ['CH', 'Schweizerische Eidgenossenschaft, Confédération suisse'],
  ['CZ', 'Czech Republic, Tschechische Republik, Tschechei, République tchèque, República Checa, Repubblica Ceca'],
  ['CZ', 'República Tcheca, Tsjechische Republiek, Republik Ceko, สาธารณรัฐเช็ก, Cộng hòa Séc'],
  ['SK', 'Slowakische Republik, Slowakia'],
  ['RU', 'Russian Federation, Russische Föderation, Fédération de Russie, Federación Rusa, Federazione Russa'],
  ['RU', 'Federação Russa, Russische Federatie, Federasi Rusia, Liên bang Nga'],
  ['BY', 'Weißrussland, Wit-Rusland, Belarusia'],
  [
    'CN',
    'Volksrepublik China, VR China, République populaire de Chine, República Popular China, Repubblica Popolare Cinese',
  ],
  ['AE', 'Emirates, Emirate, VAE, Émirats'],
  ['BA', 'Bosnien, Bosnien-Herzegowina, Bosnie, Bosnië'],
  ['VA', 'Vatican, Vaticano, Vaticaan, Holy See, Heiliger Stuhl'],
  ['IE', 'Republik Irland, Republic of Ireland'],
  ['JP', 'Nhật'],
  ['TH', 'ประเทศไทย'],
  ['KH', 'เขมร'],
  ['TR', 'Turkey'],
  ['KR', 'Republic of Korea, Korea Republic of, Korea South, Republik Korea'],
  ['KP', "Democratic People's Republic of Korea, Korea Democratic People's Republic of, Korea North, Bắc Triều Tiên"],
  ['VN', 'Viet Nam'],
  ['CI', 'Ivory Coast, Elfenbeinküste, Costa de Marfil, Pantai Gading, Bờ Biển Ngà'],
  ['SZ', 'Swaziland, Swasiland, Suazilandia, Suazilândia'],
  ['MK', 'Macedonia, Mazedonien, Macédoine, Macedonië, Makedonia'],
  ['MD', 'Moldova Republic of, Republic of Moldova, Moldawien, Moldau'],
  ['MM', 'Burma, Birma, Birmanie, Birmania, Birmânia, พม่า, Miến Điện'],
  ['CV', 'Cabo Verde, Kapverden'],
  ['TL', 'East Timor, Timor Timur'],
  ['LA', "Lao People's Democratic Republic"],
  ['SY', 'Syrian Arab Republic'],
  ['BN', 'Brunei Darussalam'],
  ['IR', 'Iran Islamic Republic of, Islamic Republic of Iran'],
  ['TZ', 'Tanzania United Republic of, United Republic of Tanzania'],
  ['BO', 'Bolivia Plurinational State of'],
  ['VE', 'Venezuela Bolivarian Republic of'],
  ['TW', 'Taiwan Province of China'],
  ['PS', 'State of Palestine, Palestine State of'],
  ['FM', 'Federated States of Micronesia'],
  ['CD', 'Democratic Republic of the Congo, DR Congo, Demokratische Republik Kongo, DR Kongo'],
  ['CD', 'République démocratique du Congo, Repubblica Democratica del Congo, República Democrática do Congo'],
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
function findCountriesByName(name: string): readonly string[] {
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

/** Drops case, accents, punctuation and blanks: `Côte d’Ivoire` and `cote d'ivoire` are the same. */
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
