import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ALL_PAGES, type Page, ROOT, readPage } from './page.js';

describe.each(ALL_PAGES)('%s', (path) => {
  const page = readPage(path);

  test('links to files and headings that exist', () => {
    expect(findRelativeLinks(page).filter((link) => !isThere(page, link))).toEqual([]);
  });

  test('names files that exist', () => {
    const paths = page.spans.filter((span) => /^(src|test|jobs|samples)\/[\w./-]+$/.test(span));

    expect(paths.filter((name) => !existsSync(`${ROOT}${name}`))).toEqual([]);
  });
});

test('pages link to each other', () => {
  expect(ALL_PAGES.flatMap((path) => findRelativeLinks(readPage(path))).length).toBeGreaterThan(40);
});

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
