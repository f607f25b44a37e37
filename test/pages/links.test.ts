import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ALL_PAGES, type Page, ROOT, readPage } from './page.js';

/** Files of the project; data, outputs and jobs have other endings, or are a reader's. */
const FILE = /^(?:(?:src|test|jobs|samples)\/[\w./-]+|[\w./-]*[\w-]+\.(?:ts|mjs|cjs|md))$/;
const SCRIPTS: Record<string, string> = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')).scripts;
const SOURCES = ['src', 'test'].flatMap((folder) =>
  readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
);

describe.each(ALL_PAGES)('%s', (path) => {
  const page = readPage(path);

  test('links to files and headings that exist', () => {
    expect(findRelativeLinks(page).filter((link) => !isThere(page, link))).toEqual([]);
  });

  test('names files that exist', () => {
    expect(page.spans.filter((span) => FILE.test(span) && !isFile(page, span))).toEqual([]);
  });

  test('shows commands of the checkout that do what they seem to', () => {
    const scripts = page.text.match(/npm run [a-z:]+/g) ?? [];
    const tests = [...page.text.matchAll(/npx vitest run((?: [\w./-]+)+)/g)].flatMap(([, args = '']) =>
      args.split(' '),
    );

    expect(scripts.filter((script) => SCRIPTS[script.slice('npm run '.length)] === undefined)).toEqual([]);
    // vitest takes a part of a path: without its slash `test/job` would run test/jobs as well.
    expect(tests.filter((path) => path.startsWith('test/') && !isWhole(path))).toEqual([]);
  });
});

test('pages link to each other', () => {
  expect(ALL_PAGES.flatMap((path) => findRelativeLinks(readPage(path))).length).toBeGreaterThan(40);
});

/** From the page, from the checkout, or the end of the path of a source. */
function isFile({ path }: Page, name: string): boolean {
  const nearby = posix.join(posix.dirname(path), name);
  return (
    [nearby, name].some((each) => existsSync(`${ROOT}${each}`)) || SOURCES.some((each) => each.endsWith(`/${name}`))
  );
}

function isWhole(path: string): boolean {
  const isFolder = statSync(`${ROOT}${path}`, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder
    ? path.endsWith('/')
    : SOURCES.filter((each) => each.startsWith(path)).length === 1 || existsSync(`${ROOT}${path}`);
}

function findRelativeLinks({ prose }: Page): string[] {
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return links.filter((target) => !/^[a-z]+:/.test(target));
}

/** `other.md#heading`, `#heading`, `../dir/`. */
function isThere({ path }: Page, link: string): boolean {
  const [target = '', anchor] = link.split('#');
  const file = target === '' ? path : posix.join(posix.dirname(path), target);
  if (!existsSync(`${ROOT}${file}`)) return false;
  return anchor === undefined || listAnchors(readPage(file)).includes(anchor);
}

/** As GitHub makes them of headings. */
function listAnchors({ prose }: Page): string[] {
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
