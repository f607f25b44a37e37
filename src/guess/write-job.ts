import { getExampleNumber } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { countOf, listSaid } from '../domain/count-of.js';
import { listZones } from '../domain/stated-time.js';
import { findColumn } from '../normalize/columns.js';
import { findNumberCountry } from '../normalize/number/number-library.js';
import { describeConsent, describeCountry, describeFilled, describeNumber, type JobGuess } from './guess-job.js';

/** A list of people who must get no message. */
export interface OptOutList {
  /** Relative to the job file. */
  readonly name: string;
  readonly encoding: string | undefined;
  /** The country of its numbers without +: one for the whole list, or a column that says it row by row. */
  readonly country: string | undefined;
  readonly countryColumn: string | undefined;
}

/** What the job is for, beside what its rows show. */
interface JobFrame {
  readonly name: string;
  /** Relative to the job file. */
  readonly files: readonly string[];
  readonly optOuts: readonly OptOutList[];
  /** The encoding that the job must name; a byte order mark or UTF-8 needs no name. */
  readonly encoding: string | undefined;
  /** A person stated it, so no comment doubts it. */
  readonly isEncodingStated: boolean;
  readonly sheet: string | undefined;
  readonly columns: readonly string[];
  /** The fields of its files are separated as where decimals have a comma. */
  readonly hasSemicolons: boolean;
}

/** The job file: it runs as it stands, and its comments say what each guess rests on. The same guess gives the same text. */
export function writeJob(guess: JobGuess, frame: JobFrame): string {
  const steps =
    guess.number === undefined
      ? writeContacts(guess, frame)
      : [...writeSms(guess, guess.number, frame), '', ...writeContactsAsComment(guess, frame)];
  return `${[...writeHead(guess, frame), 'steps:', ...steps].join('\n')}\n`;
}

function writeHead({ rows, notInAll, number }: JobGuess, { name, files, hasSemicolons }: JobFrame): string[] {
  const { region, mobile } = exampleFor(number?.mostly);
  const from = files.length === 1 ? files[0] : countOf(files.length, 'file');
  return [
    `# Written by volley init from the first ${countOf(rows, 'row')} of ${writeInComment(from ?? '')}, which the figures below count.`,
    '# It sends to the sandbox: no message leaves this machine. Every key: volley help job-file',
    ...(notInAll.length === 0
      ? []
      : [
          `# Not in all of the files, and so not used: ${writeInComment(notInAll.map((each) => JSON.stringify(each)).join(', '))}`,
        ]),
    '',
    `name: ${writeScalar(name)}`,
    '',
    'service:',
    '  sandbox: true',
    '  # To send for real, put these in its place; the key itself stays in the environment:',
    `  # region: ${region}`,
    '  # account: acme',
    '  # credentials: { apiKey: { env: VOLLEY_API_KEY } }',
    '',
    `# testNumbers: ["${mobile}"]   # your own phones: volley test sends some of the messages to them`,
    '# optOuts: opt-outs.csv   # who answered STOP: volley listen --opt-outs writes it, and nothing is sent to them',
    '# prices: { file: prices.csv, currency: EUR }   # what messages cost: the plan then says what it costs',
    ...(hasSemicolons
      ? ['output: { csv: { delimiter: ";", bom: true } }   # as the file has it: Excel opens it so']
      : []),
    ...(number === undefined
      ? []
      : [
          'sameText: skip   # who had exactly this text in the last 14 days, from any file or job, does not get it again',
          '# window: { from: "09:00", to: "20:00" }   # when marketing leaves, by the clocks of its recipients; then a run stops, and the same command resumes it',
        ]),
    '',
  ];
}

/** The zone of most people, in countries where the list of zones begins with another one. */
const MAIN_ZONES: Readonly<Record<string, string>> = {
  AU: 'Australia/Sydney',
  BR: 'America/Sao_Paulo',
  CA: 'America/Toronto',
  CL: 'America/Santiago',
  CN: 'Asia/Shanghai',
  ES: 'Europe/Madrid',
  ID: 'Asia/Jakarta',
  MX: 'America/Mexico_City',
  PT: 'Europe/Lisbon',
  RU: 'Europe/Moscow',
  US: 'America/New_York',
};

/** What the examples name: a number, a zone and a region of the service for the country of most recipients. */
export function exampleFor(country = 'SG'): { mobile: string; timeZone: string; region: string } {
  const known = findNumberCountry(country);
  const mobile = known && getExampleNumber(known, examples)?.number;
  const timeZone = MAIN_ZONES[country] ?? listZones(country)[0];
  if (mobile === undefined || timeZone === undefined) return exampleFor();
  const region = REGION_OF.find(([zones]) => zones.test(timeZone))?.[1] ?? 'asia';
  return { mobile, timeZone, region };
}

/** The nearest region of the service, by the zone. */
const REGION_OF: readonly (readonly [RegExp, string])[] = [
  [/^Asia\/(?:Jakarta|Makassar|Jayapura|Pontianak)$/, 'indonesia'],
  [/^(?:Europe|Africa|Arctic)\//, 'europe'],
  [/^America\//, 'north-america'],
];

/** Ends the text of a job that a person has still to write. */
export const EXAMPLE_TEXT = 'this is a message from ACME. Reply STOP to opt out.';

type SmsNumber = NonNullable<JobGuess['number']>;

function writeSms(guess: JobGuess, number: SmsNumber, frame: JobFrame): string[] {
  const { greeting } = guess;
  const name = greeting && writeVariable(greeting.column, frame);
  const hello = name === undefined ? 'Hello' : `Hi {{ ${name} | default: 'there' }}`;
  return [
    '  - kind: sms',
    ...writeInput(guess, frame).map((line) => `    ${line}`),
    ...remark(`    destination: ${writeScalar(number.column)}`, describeNumber(number, guess)),
    '    template:',
    ...remark('      source: ACME', 'what the phone shows as sender: 11 letters or digits at most'),
    ...(greeting === undefined || name === undefined
      ? []
      : [`      # ${writeInComment(JSON.stringify(greeting.column))} is ${describeFilled(greeting, guess)}`]),
    `      text: ${writeQuoted(`${hello}, ${EXAMPLE_TEXT}`)}`,
    `      # scheduled: { at: "2026-12-01 10:00", timeZone: ${exampleFor(number.mostly).timeZone} }   # when the service sends it; else at once`,
    ...writeSuppress(frame.optOuts, number.country),
  ];
}

/** Lists that are read alike are one map; its `country` is that of the input where it has none. */
function writeSuppress(optOuts: readonly OptOutList[], ofInput: string | undefined): string[] {
  const maps = new Map<string, string[]>();
  for (const { name, encoding, country, countryColumn } of optOuts) {
    const own = listSaid(
      encoding && `encoding: ${writeScalar(encoding)}`,
      countryColumn && `countryColumn: ${writeScalar(countryColumn)}`,
      country && country !== ofInput && `country: ${country}`,
    );
    const reading = own.map((each) => `, ${each}`).join('');
    maps.set(reading, [...(maps.get(reading) ?? []), name]);
  }
  const written = [...maps].map(([reading, names]) => `{ files: ${writeList(names)}${reading} }`);
  const [first] = written;
  const why = 'nothing is sent to the numbers in it';
  if (first === undefined)
    return ['    # suppress: { files: [opt-outs.csv] }   # a list of numbers that must get no message'];
  if (written.length === 1) return remark(`    suppress: ${first}`, why);
  return [...remark('    suppress:', why), ...written.map((map) => `      - ${map}`)];
}

/** A column in a text: `first_name` for "First Name" where no other column is named so; undefined where no text can name it. */
function writeVariable(column: string, { columns }: JobFrame): string | undefined {
  const short = column
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  const found = /^[a-z]/.test(short) ? findColumn(columns, short) : undefined;
  if (found !== undefined && columns[found] === column) return short;
  return /["\\\p{C}]/u.test(column) ? undefined : `["${column}"]`;
}

function writeInput(guess: JobGuess, frame: JobFrame): string[] {
  const { number } = guess;
  return [
    'input:',
    `  files: ${writeList(frame.files)}`,
    ...(frame.encoding === undefined
      ? []
      : remark(
          `  encoding: ${writeScalar(frame.encoding)}`,
          frame.isEncodingStated ? '' : 'the file is not UTF-8: look at names with accents in the preview',
        )),
    ...(frame.sheet === undefined ? [] : [`  sheet: ${writeScalar(frame.sheet)}`]),
    ...(number === undefined ? [] : writeCountry(number)),
    ...writeWhere(guess),
  ];
}

function writeCountry(number: SmsNumber): string[] {
  const { country, countryColumn, tried } = number;
  const why = describeCountry(number) ?? '';
  const column = countryColumn === undefined ? [] : [`  countryColumn: ${writeScalar(countryColumn)}`];
  if (tried !== undefined && country === undefined) {
    if (tried.lostPlus.length > 0) {
      return [
        ...column,
        '  # Numbers without + are rejected: export them as text, or put the + back in the file.',
        `  # ${why}`,
      ];
    }
    return [
      ...column,
      '  # Numbers without + are rejected until this names their country: write its two letters, and remove the #.',
      `  # ${why}`,
      '  # country: XX',
    ];
  }
  if (country !== undefined) return [...column, ...remark(`  country: ${country}`, why)];
  return countryColumn === undefined ? [] : remark(column.join(''), why);
}

/** The consent that the `where` of the job is for; undefined where no cell says so. */
export function findWhereConsent(consent: JobGuess['consent']): JobGuess['consent'][number] | undefined {
  return consent.find(({ value, isBlank, isOfMail }) => !isOfMail && (isBlank || value !== undefined));
}

function writeWhere(guess: JobGuess): string[] {
  const first = findWhereConsent(guess.consent);
  if (guess.consent.length === 0) return [];
  const said = guess.consent.map(
    (each) => `  # ${writeInComment(JSON.stringify(each.column))}: ${describeConsent(each, guess)}`,
  );
  if (first === undefined) return ['  # Who agreed to get messages? No row says so:', ...said];
  const value = first.isBlank ? 'blank' : writeQuoted(first.value ?? '');
  return [
    '  # Who agreed to get messages? Remove the # in front of where to write to those alone.',
    ...said,
    `  # where: { ${writeScalar(first.column)}: ${value} }`,
  ];
}

function writeContacts(guess: JobGuess, frame: JobFrame): string[] {
  return [
    '  - kind: contacts',
    ...writeInput(guess, frame).map((line) => `    ${line}`),
    ...remark(
      `    fields: ${writeMap(Object.entries(guess.fields))}`,
      guess.number === undefined ? 'no column holds numbers, so there is no SMS to send' : '',
    ),
  ];
}

function writeContactsAsComment(guess: JobGuess, frame: JobFrame): string[] {
  const lines = writeContacts({ ...guess, consent: [] }, frame).map((line) => `  #${line.slice(1)}`);
  return ['  # To put the rows into the contact book as well, remove the # of these lines:', ...lines];
}

function remark(line: string, comment: string): string[] {
  return [comment === '' ? line : `${line}   # ${comment}`];
}

/** Letters, digits, blanks and plain signs: YAML reads them as they are, save for words such as yes and numbers. */
const PLAIN = /^[\p{L}_][\p{L}\p{N}_./-]*(?: [\p{L}\p{N}_./-]+)*$/u;
const WORD = /^(?:y|n|yes|no|on|off|true|false|null|nan|blank|present)$/i;
/** What cannot be seen, or would end a line. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

/** A text as a YAML scalar on one line: plain where that is safe, else in double quotes with escapes. A job names a column by its words. */
function writeScalar(written: string): string {
  const text = written.replaceAll(/\p{Cc}+/gu, ' ');
  const isPlain = PLAIN.test(text) && !WORD.test(text) && text.search(UNSEEN) === -1;
  return isPlain ? text : writeQuoted(text);
}

function writeQuoted(text: string): string {
  return writeInComment(JSON.stringify(text));
}

/** A text within a comment, or between quotes: nothing in it ends the line. */
function writeInComment(text: string): string {
  return text.replace(UNSEEN, (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

function writeMap(entries: readonly (readonly [string, string])[]): string {
  return `{ ${entries.map(([key, value]) => `${writeScalar(key)}: ${writeScalar(value)}`).join(', ')} }`;
}

function writeList(items: readonly string[]): string {
  return `[${items.map(writeScalar).join(', ')}]`;
}
