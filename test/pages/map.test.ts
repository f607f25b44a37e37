import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, readPage } from './page.js';

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
