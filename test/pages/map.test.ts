import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { listNames, ROOT, readPage, readRows, readSection } from './page.js';

const page = readPage('src/README.md');

test('the map of src/README.md names every folder of src/, and no other', () => {
  const [map] = page.blocks;
  const named = [...(map?.text.matchAll(/(?:^| {3,})([a-z]+)\/ /gm) ?? [])].map(([, folder]) => folder);
  const folders = readdirSync(`${ROOT}src`, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );

  expect(named.toSorted()).toEqual(folders.toSorted());
});

test('every source file that src/README.md names is there, in whatever folder', () => {
  const files = ['src', 'test'].flatMap((folder) =>
    readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' }),
  );
  const names = new Set(files.map((path) => basename(path)));
  const named = page.spans.filter((span) => /^[a-z-]+(\.test)?\.ts$/.test(span));

  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !names.has(name))).toEqual([]);
});

test('every source file that a comment of src/ names is there', () => {
  const paths = readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(ts|mjs)$/.test(path),
  );
  const names = new Set(paths.map((path) => basename(path)));
  const named = paths.flatMap((path) =>
    [...readFileSync(`${ROOT}src/${path}`, 'utf8').matchAll(/^ *(?:\/?\*|\/\/).*$/gm)].flatMap(([comment]) =>
      [...comment.matchAll(/[a-z][a-z-]*\.ts\b/g)].map(([name]) => ({ path, name })),
    ),
  );

  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ name }) => !names.has(name))).toEqual([]);
});

test.each(['Where do I change …\\?', 'Who holds what'])(
  'what src/README.md names under "%s" is there, under that name',
  (heading) => {
    const named = readRows(readSection(page, heading)).flatMap((cells) =>
      cells.map(listNames).flatMap((names) => (names[0]?.includes('/') ? names : [])),
    );
    let path = '';
    const missing = named.filter((name) => {
      if (!/[/.]/.test(name)) return path !== '' && !new RegExp(`\\b${name}\\b`).test(readFileSync(path, 'utf8'));
      path = `${ROOT}src/${name}`;
      return !existsSync(path);
    });

    expect(named.length).toBeGreaterThan(10);
    expect(missing).toEqual([]);
  },
);
