import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { listLiveTexts } from './live-texts.js';

type Shown = readonly (readonly [file: string, ...titles: string[]])[];

/** All input that must not hurt, and the tests that show it. */
const INPUT: Readonly<Record<string, Shown>> = {
  'byte order marks and UTF-16': [
    [
      'read/encoding',
      'is known by its mark, and said',
      'takes utf-16 for either byte order',
      'names UTF-16 without a mark as what it is',
    ],
  ],
  'Windows-1252: never guessed': [
    [
      'read/encoding',
      'is strict UTF-8: anything else is refused with its line and byte, never guessed',
      'windows-1252 has all of 0x80 to 0x9F as the web has it',
    ],
  ],
  NULs: [
    ['read/encoding', 'refuses a NUL with its line'],
    ['job/yaml', 'is refused with its place'],
  ],
  'CR-only and mixed line ends': [
    ['read/csv', 'counts lines as an editor does, with CRLF, LF and CR mixed, within quotes too'],
    [
      'read/csv.property',
      'reads back unchanged every table, however it is written, each row with the line on which it begins',
    ],
  ],
  'semicolons and tabs': [
    [
      'read/csv',
      '%j is found from the header, and said',
      'is never guessed: two that stand equally often are a refusal',
    ],
  ],
  'quotes inside fields': [
    [
      'read/csv',
      'leaves cells as they are: blanks, leading zeros, quotes within quotes',
      'a quote inside an unquoted field',
    ],
    ['hostile/csv-spectrum', '$name is read as its JSON says', '$name is refused with its line'],
  ],
  'a quote that never closes': [
    [
      'read/csv',
      'names the line of the row whose quote never closes, not the end of the file',
      'swallows no good rows in silence when two stray quotes make a pair',
    ],
  ],
  'rows too short or too long': [
    [
      'read/csv',
      'pads a row with too few fields and says how many it has',
      'keeps what stands beyond the columns in the reason, so that nothing is lost',
    ],
  ],
  'duplicate headers': [
    [
      'read/csv',
      'numbers names that stand twice',
      'refuses names that are forbidden, and those without a letter that stand twice, all at once',
    ],
    [
      'hostile/column-names',
      'refuses a CSV that is no output: in the outputs its name would stand twice',
      'that are the same but for blanks reject their row, unless only one of them says something',
    ],
  ],
  '__proto__ and constructor as headers': [
    [
      'hostile/column-names',
      '__proto__, constructor and prototype refuse the file; toString and its like are names as others',
      'that are forbidden stay so with blanks around them',
    ],
    ['template/bind', 'finds no column %s where there is none'],
  ],
  'fields of 10 MB': [['hostile/big-input', 'refuses a field of 10 MB, with its line']],
  '100,000 columns': [['hostile/big-input', 'refuses 100,000 columns', '100,000 columns, where the job allows them']],
  'empty files, and a header only': [
    [
      'read/csv',
      'refuses an empty file, and one of blank lines alone',
      'reads a file of a header alone as no rows, and says so',
    ],
    ['plan/suppression', 'that is empty'],
  ],
  'truncated gzip': [
    [
      'read/gzip',
      'is refused wherever it is cut off',
      'is refused when a byte is damaged, unless the content is the same all the same',
    ],
  ],
  'a gzip bomb': [
    ['hostile/big-input', 'refuses a file of 100 MB in 100 kB of gzip as soon as it is beyond maxFileBytes'],
  ],
  'a directory, a FIFO': [
    [
      'read/inputs',
      'refuses a device',
      'refuses a broken link and a pipe that fit a pattern, instead of passing them over',
      'refuses all that names nothing or no file, at once',
    ],
  ],
  'a file that changes while it is read': [
    ['plan/make-plan', 'says so of a file that changes between its digest and its reading'],
  ],
  'NDJSON: arrays, scalars, duplicate keys, numbers that lose digits, lone surrogates': [
    [
      'read/json-row',
      'is a fault',
      'has an answer for every text',
      'finds a key that is written twice anywhere',
      'takes a whole number just when every digit of it is kept',
    ],
  ],
  'NDJSON: huge lines': [['hostile/big-input', 'refuses a line of 17 MB, with its number', 'in NDJSON, %s']],
  'numbers damaged by a spreadsheet': [
    [
      'normalize/number',
      'with full digits lost to scientific notation says how to export them',
      'that lost its leading zero is refused where the zero belongs to the number',
    ],
  ],
  'YAML bombs': [
    [
      'job/yaml',
      'aliases, so that nine lines cannot become a billion',
      'refuse more than 100,000 parts',
      'refuse a text of more than 1 MiB, counted in bytes',
    ],
  ],
  'YAML: deep nesting, in a second document too': [
    ['job/yaml', 'refuse nesting by %s before anything is built', 'a second document'],
  ],
  'YAML: several documents': [['job/yaml', 'several documents']],
  'YAML: a number that was meant as text': [
    ['job/refusals', 'a number where text is meant is to be quoted as it was written'],
  ],
  'each gives a rejection with its place or a refusal with a reason': [
    [
      'hostile/any-bytes.property',
      'as the input of a step',
      'as a suppression list, where a refusal sends nothing to anybody',
    ],
    ['job/load.property', 'any bytes'],
  ],
  'never a silent change': [
    ['hostile/any-records.property', 'as %s'],
    ['hostile/naughty-rows', 'in the cell of a template is sent as it stands, or its row is rejected with a reason'],
    ['hostile/example-numbers', 'is read from every way in which it is written'],
  ],
  'never a hang': [
    [
      'hostile/regexes',
      'none takes more than linear time, save on a text whose length is bounded',
      'whose time would grow with the square, is not given 100,000 characters',
    ],
    ['normalize/number', 'of hostile length or build costs no time'],
  ],
};

/** All that keeps secrets, people and terminals safe, and the tests that show it. */
const SAFETY: Readonly<Record<string, Shown>> = {
  'cells that a spreadsheet would run are neutralised, save a number in E.164': [
    ['formula', 'leaves no cell that a spreadsheet would run', 'puts an apostrophe before %j'],
    ['report/format', 'neutralises what a spreadsheet would run, in the header too, save a number in E.164'],
  ],
  'that is undone when a file of ours is read again': [
    ['formula', 'undoes neutralizeCell for every text'],
    ['hostile/any-records.property', 'as %s'],
  ],
  'secrets come by env or file only': [
    ['e2e/verbs', 'no option of any verb takes a secret itself'],
    ['job/rules-access', 'is refused and not repeated'],
    ['hostile/canary-job', 'that is written into the job file, as %s, is not repeated'],
  ],
  'the line end behind a secret is trimmed, anything else is refused': [
    ['job/secrets', 'gives what the variable or the file holds, without line ends after it'],
    ['hostile/canary-job', 'that is no key, as %s, is not repeated'],
    ['service/transport-not-sent', 'is %s, and its reason does not repeat it'],
  ],
  'no secret in plan, journal, output, log or error': [
    ['hostile/canaries', 'no secret is said or written'],
    ['hostile/canary-calls', 'says no secret'],
    ['hostile/canary-command', 'neither says nor writes a secret'],
    ['e2e/promises', 'leaves the key in none of its files, and none of them to others'],
  ],
  'logs go by an allow-list, and are scrubbed last': [
    [
      'log',
      'drops fields that are neither a figure, a text nor a truth value, whatever the types were told',
      'scrubs secrets from messages, fields and names of fields, as often as they occur',
    ],
  ],
  'numbers are masked in logs and errors': [
    ['hostile/canary-input', 'in %s stands in no log and no error'],
    [
      'hostile/canary-library',
      'plan and apply throw and log no secret and no number',
      'no call of a service throws a secret',
    ],
    ['normalize/mask', 'never shows more than four digits'],
    ['commands/print-plan', 'shows each field of a contact with its value, and no whole number or address'],
  ],
  'bodies are never logged': [
    ['hostile/canary-input', 'that is %s stands in no log and no error'],
    ['template/bind', 'never shows a cell in the reason for a refusal'],
  ],
  'directories are 0700, files 0600': [
    ['files', 'of files are 0600, of directories 0700, made in one go'],
    ['e2e/promises', 'leaves the key in none of its files, and none of them to others'],
  ],
  'what reaches a terminal is escaped': [
    [
      'hostile/terminal-text.property',
      'steers no terminal as text, and takes no room unseen',
      'steers no terminal as JSON, and is the same value',
      'steers no terminal as a line of the log, where it stays one line',
    ],
    ['hostile/canaries', 'nothing steers the terminal'],
  ],
  'https only, save loopback': [['job/service-rules', 'is refused', 'is taken']],
  'certificates are checked': [
    ['service/transport-not-sent', 'is a certificate that nobody has signed, and no byte of the request reaches it'],
    [
      'e2e/exit-codes',
      '2: flags, verbs, job files, credentials and environments that are not right, and nothing is sent',
    ],
    ['library/create-service', 'where certificates are not checked'],
  ],
  'no redirect is followed': [
    ['service/transport', 'is not sent on to where a %i points'],
    ['e2e/answers-refused', 'follows nothing'],
  ],
  'ids in paths are matched and encoded': [
    [
      'hostile/naughty-values',
      'as an id in a path is one part of the path, and comes back as it was',
      'as a code or a room in a query is one value, and comes back as it was',
    ],
    ['service/gateway', 'is refused before anything is sent'],
    ['job/gateway-paths', 'is refused'],
  ],
  'no line end gets into a header': [
    ['hostile/naughty-values', 'as a secret can be a header, or is refused and not repeated'],
    ['job/rules-access', 'or not as they must be are refused'],
  ],
  'answers are bounded': [
    [
      'service/transport-in-doubt',
      'the headers are huge',
      'the body never ends',
      'drips its answer byte by byte ends all the same',
    ],
  ],
  'the listener is bounded, time-limited, and on loopback by default': [
    [
      'listen/limits',
      'of one byte above 1 MiB is answered 413 and counted; one of 1 MiB is taken',
      'a request that never ends %s is cut off',
      'connections above the most are closed at once',
      'what comes while too many bytes are under way is turned away with 503, and taken later',
    ],
    ['listen/door', 'is not listened on, and no lock is taken', 'a web page that is open on this machine is refused'],
  ],
  'stdout loses nothing; full or closed, it is an error': [
    [
      'hostile/streams',
      'loses nothing to a reader that is slower than the command',
      'that is closed is an error of volley %s',
      'that is full is an error of volley %s',
      'that is %s ends no run: the log is lost, nothing else',
    ],
  ],
};

const read = (file: string) => readFileSync(fileURLToPath(new URL(`../${file}.test.ts`, import.meta.url)), 'utf8');

describe.each([
  ['input that must not hurt', INPUT],
  ['safety', SAFETY],
] as const)('%s', (_part, lines) => {
  test.each(Object.entries(lines))('%s: the tests that show it are there', (_line, shown) => {
    for (const [file, ...titles] of shown) {
      const live = listLiveTexts(read(file));
      expect(titles.filter((title) => !live.some((text) => text.includes(title)))).toEqual([]);
    }
  });
});
