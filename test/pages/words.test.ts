import { readFileSync } from 'node:fs';
import { globSync } from 'tinyglobby';
import { expect, test } from 'vitest';
import { ROOT } from './page.js';

/** Words that readers stumble over, and the plain ones. Messages, help and pages use the right-hand side. */
const PLAIN_WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [/\bunmended\b/i, 'not fixed'],
  [/\bgone on with\b|\b(go|goes|going|went) on (with|trying)\b/i, 'resume, keep trying'],
  [/\b(it|run|dialer|campaign|session) goes on\b|\bif it goes on\b/i, 'resumes'],
  [/\b(is|are|was|were) told\b|\buntold\b|\btold of\b/i, 'reports, says; unresolved'],
  [/\b(fed back|feed back|fed rows?)\b/i, 're-import'],
  [/\bgiven away\b/i, 'claimed'],
  [/\bleaves out\b|\bleaves the row out\b|\bleave .{1,30} out\b/i, 'omits'],
  [/\btakes? out of doubt\b/i, 'settles'],
  [/\bsettle-word\b/i, 'decision'],
  [/\bbefalls?\b|\bwhoever\b|\bfor ever\b/i, 'happens to, the process that, indefinitely'],
  [/\bexpected none\b/i, '"2 problems in spring.yaml"'],
  [/\bfits no file\b/i, 'matches no file'],
  [/\bthere is no one column\b|\bof the columns fits\b/i, '"no column matches \'phone\'"'],
  [/\bfile of ours\b/i, '"added by Volley"'],
  [/\bis no (text|object|list|number|name|JSON|ISO|subaccount|email)\b/i, 'is not a …'],
  [/\bis not built like\b|\bbuilt like one\b/i, 'is not a …'],
  [/\bin vain\b|\bcomes? to grief\b/i, 'impossible, fails'],
  [/\b(nobody|somebody)\b/i, 'no one, a person'],
  [/\bin another writing\b/i, 'in another encoding or format'],
  [/\bwithout a word\b/i, 'silently, unexpectedly'],
  [/\bin the words of the service\b|\bas its status tells\b/i, 'say what was received'],
  [/\b1 (rows|messages|files|columns|requests|parts|problems|lines)\b/i, '"1 row"'],
];

/** The same for comments, where the field's terms say it. */
const COMMENT_WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [/\b(is|are|was|were) (un)?told\b|\btold of\b/i, 'knows, reports, gets'],
  [/\b(go|goes|going|gone) on (with|trying)\b/i, 'resume, keep trying'],
  [/\b(fed|feed) back\b/i, 're-import'],
  [/\bgiven away\b/i, 'claimed'],
  [/\bbefalls?\b|\bwhoever\b|\bfor ever\b|\bin vain\b/i, 'happens to, the process that, indefinitely, impossible'],
  [/\b(of|none of|file of) ours\b/i, 'of Volley'],
  [/\bheld against\b/i, 'checked against, compared with'],
  [/\bcame? to grief\b|\bsomebody else's\b/i, 'failed, foreign'],
  [/\bfacts: [A-Z]/, 'the contract, or "documented"'],
];

/** Beginnings that hang on the line above: such a comment cannot be read alone. */
const HANGING: readonly (readonly [RegExp, string])[] = [
  [/^(Of|Undefined|The same|Those|That|Also|Else)\b/, 'begins with its subject or its verb'],
];

/** Names that a newcomer could not guess. */
const ODD_NAMES =
  /\b(laters|unknowns|lastLook|LastLook|NoteLate|noteLate|OF_THE_WAY|shareNext|keepGiven|settleByWord|giveAllRows|lookFirst|settleByAsking|whyItStays|befallen|misfortune|createDoor|switchboard|gravestOf)\b/i;

const COUNTED_BY_HAND = /\$\{[a-zA-Z.]+\} (rows|files|lines|problems|numbers)\b/;

type Passage = Readonly<{ file: string; line: number; text: string }>;

const readText = (file: string): string => readFileSync(`${ROOT}${file}`, 'utf8');

/** The lines of a source without its comments: what reaches a person stands in these. */
function listCode(file: string): Passage[] {
  return readText(file)
    .replace(/\/\*\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ''))
    .split('\n')
    .map((text, index) => ({ file, line: index + 1, text: text.replace(/(?:^|\s)\/\/ .*$/, '') }));
}

/** Titles of tests and of their groups. */
function listTitles(file: string): Passage[] {
  const text = readText(file);
  return [
    ...text.matchAll(/(?:\b(?:test|it|describe)(?:\.\w+)*|^ *[\])}]+\)|\.each\(.+\))\(\s*(['"`])((?:(?!\1).)+)\1/gm),
  ].map(({ index, 2: title = '' }) => ({ file, line: text.slice(0, index).split('\n').length, text: title }));
}

/** A page line by line, without the code that it shows in fences. */
function listLines(file: string): Passage[] {
  return readText(file)
    .replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ''))
    .split('\n')
    .map((text, index) => ({ file, line: index + 1, text }));
}

/** The comments of a source or manifest, line by line. */
function listComments(file: string): Passage[] {
  return readText(file)
    .split('\n')
    .map((text, index) => ({ file, line: index + 1, text: /^\s*(?:\/\*\*|\*|\/\/|#)(.*)$/.exec(text)?.[1] ?? '' }));
}

/** How each comment of a source begins, over however many lines it goes. */
function listBeginnings(file: string): Passage[] {
  const text = readText(file);
  return [...text.matchAll(/\/\*\*\s+(?:\* )?(.*)|(?<!^ *\/\/.*\n)^ *\/\/ (.*)/gm)].map(
    ({ index, 0: all, 1: docs, 2: body }) => ({
      file,
      line: text.slice(0, index + all.length).split('\n').length,
      text: docs ?? body ?? '',
    }),
  );
}

function findOddWords(passages: readonly Passage[], odds = PLAIN_WORDS): string[] {
  return passages.flatMap(({ file, line, text }) => {
    const odd = odds.flatMap(([word, plain]) => {
      const match = word.exec(text);
      return match === null ? [] : [`"${match[0]}", better: ${plain}`];
    });
    return odd.map((what) => `${file}:${line}: ${what}`);
  });
}

test('messages use plain words', () => {
  expect(findOddWords(globSync('src/**/*.ts', { cwd: ROOT }).sort().flatMap(listCode))).toEqual([]);
});

test('pages use plain words', () => {
  const pages = [
    'README.md',
    'src/README.md',
    'test/README.md',
    'src/sandbox/README.md',
    'jobs/**/*.md',
    'samples/*.md',
  ];
  expect(findOddWords(globSync(pages, { cwd: ROOT }).sort().flatMap(listLines))).toEqual([]);
});

test('comments use plain words', () => {
  const passages = globSync('src/**/*.ts', { cwd: ROOT }).sort().flatMap(listComments);
  expect(findOddWords(passages, COMMENT_WORDS)).toEqual([]);
});

test('a comment can be read without the line above', () => {
  const sources = globSync('src/**/*.{ts,mjs}', { cwd: ROOT }).sort();
  const beginnings = sources.flatMap(listBeginnings);
  expect(beginnings.length).toBeGreaterThan(3000);
  expect(findOddWords(beginnings, HANGING)).toEqual([]);
});

test('titles and comments of tests, and comments of manifests, use plain words', () => {
  const tests = globSync('test/**/*.ts', { cwd: ROOT, ignore: 'test/pages/words.test.ts' }).sort();
  const titles = tests.flatMap(listTitles);
  expect(titles.length).toBeGreaterThan(2000);
  expect(findOddWords(titles)).toEqual([]);
  expect(findOddWords(tests.flatMap(listComments), COMMENT_WORDS)).toEqual([]);
  const manifests = globSync('jobs/**/*.yaml', { cwd: ROOT }).sort().flatMap(listComments);
  expect(findOddWords(manifests, COMMENT_WORDS)).toEqual([]);
});

test('names are the terms of the field, and nouns are counted by countOf', () => {
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).sort();
  const lines = sources.flatMap((file) =>
    readText(file)
      .split('\n')
      .map((text, index) => ({ file, line: index + 1, text })),
  );
  const kinds: readonly (readonly [RegExp, string])[] = [
    [ODD_NAMES, 'a name that says what it is or does'],
    [COUNTED_BY_HAND, "countOf(count, 'row')"],
  ];
  expect(findOddWords(lines, kinds)).toEqual([]);
});

test('an odd word is found, and a plain one is not', () => {
  const source = 'src/domain/errors.ts';
  const passage = (text: string): Passage => ({ file: source, line: 1, text });
  expect(
    findOddWords([passage('Mend the job file'), passage('it wrote 1 rows'), passage('fix the job file')]),
  ).toHaveLength(2);
});
