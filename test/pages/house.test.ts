import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import { expect, test } from 'vitest';
import { AREAS, KINDS } from '../../src/domain/areas.js';
import { type PlantedBug, readBugs } from '../planted/planted-bug.js';
import { ROOT } from './page.js';

const listSources = (room: string) =>
  readdirSync(`${ROOT}${room}`, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
const files = listSources('src');
const textOf = (path: string, room = 'src') => readFileSync(`${ROOT}${room}/${path}`, 'utf8');

/** Names that several rooms may give to what they have of an area of the service, or of a kind of step in two of them. */
const OF_AREAS = [...AREAS, ...Object.keys(KINDS)].map((area) => `${area}.ts`);

test('a folder of src/ has at most 20 files; verbs/ has one for each verb', () => {
  const others = files.filter((path) => dirname(path) !== 'verbs');
  expect(listMore(others, (path) => dirname(path), 20)).toEqual([]);
});

test.each(['src', 'test'])('a file of %s/ has at most 350 lines', (room) => {
  const paths = listSources(room);
  expect(paths.length).toBeGreaterThan(300);
  expect(paths.filter((path) => textOf(path, room).split('\n').length > 351)).toEqual([]);
});

test('each path that the layers call pure is there', () => {
  const { forbidden }: { forbidden: { name: string; from: { path: string[] } }[] } = createRequire(import.meta.url)(
    `${ROOT}.dependency-cruiser.cjs`,
  );
  const pure = forbidden.flatMap(({ name, from }) => (name === 'pure-modules-have-no-effects' ? from.path : []));

  expect(pure.length).toBeGreaterThan(10);
  expect(pure.filter((path) => !files.some((file) => new RegExp(path).test(`src/${file}`)))).toEqual([]);
});

test('each bug that is planted has its one place in the source', () => {
  const bugs = readBugs(`${ROOT}test/planted`);

  expect(bugs.length).toBeGreaterThan(200);
  const isAstray = ({ file, find }: PlantedBug) => readFileSync(`${ROOT}${file}`, 'utf8').split(find).length !== 2;
  expect(bugs.filter(isAstray).map(({ name, file }) => `${name}: ${file}`)).toEqual([]);
});

/** These only go down: lower one when you have removed some. A file is a subject; what only one file needs stands in it. */
const MOST_SHORT_FILES = 6;
const MOST_BAGS = 12;

test(`at most ${MOST_SHORT_FILES} files of src/ have fewer than 30 lines`, () => {
  const short = files.filter((path) => textOf(path).split('\n').length <= 30);
  expect(short.length, short.join('\n')).toBeLessThanOrEqual(MOST_SHORT_FILES);
});

test(`at most ${MOST_BAGS} types of src/ are bags that are handed around: Deps, Context, Session, Settings, Host`, () => {
  const BAG = /^(?:export )?(?:interface|type|class) (\w*(?:Deps|Context|Session|Settings|Host))\b/gm;
  const bags = files.flatMap((path) => [...textOf(path).matchAll(BAG)].map(([, name = '']) => `${name} in ${path}`));

  expect(bags.length, bags.join('\n')).toBeLessThanOrEqual(MOST_BAGS);
});

test('that nothing was sent is said in a hint, which says more behind a run that the same command has finished, and in no message', () => {
  const CLAIM = /new UserError\(\s*'[^']+',\s*['`][^'`]*nothing was sent/gi;
  expect(files.flatMap((path) => textOf(path).match(CLAIM) ?? [])).toEqual([]);
});

test('no two files of src/ have one name, save those of an area of the service', () => {
  expect(listMore(files, (path) => basename(path), 1).filter((name) => !OF_AREAS.includes(name))).toEqual([]);
});

test('no two files of src/ export one name', () => {
  const DECLARED = /^export (?:declare |abstract |async )*(?:interface|class|type|function\*?|const|let|enum) (\w+)/gm;
  // `plan` and `apply` of the package are named as the verbs that do the same.
  const exported = files
    .filter((path) => path !== 'library/plan-and-apply.ts')
    .flatMap((path) => [...textOf(path).matchAll(DECLARED)].map(([, name = '']) => name));

  expect(exported).toEqual(expect.arrayContaining(['Rejection', 'Lane', 'planJob', 'splitLines']));
  expect(listMore(exported, (name) => name, 1)).toEqual([]);
});

/** The keys that more than `most` of the items have. */
function listMore(items: readonly string[], keyOf: (item: string) => string, most: number): string[] {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return [...counts].flatMap(([key, count]) => (count > most ? [key] : []));
}
