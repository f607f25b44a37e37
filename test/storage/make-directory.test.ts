import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nodeFiles } from '../../src/storage/files.js';
import { aFolder } from '../plan/a-plan.js';

const root = aFolder();
const at = (path: string) => join(root, path);

test('directories that are missing are made, those that are there stay', async () => {
  await nodeFiles.makeDirectory(at('a/b/c'));
  await nodeFiles.makeDirectory(at('a/b/c'));
  expect(existsSync(at('a/b/c'))).toBe(true);
});

test('of eight at once each succeeds', async () => {
  await Promise.all(Array.from({ length: 8 }, () => nodeFiles.makeDirectory(at('x/y/z'))));
  expect(existsSync(at('x/y/z'))).toBe(true);
});

test.skipIf(!existsSync('/proc/self'))(
  'in a file system of the kernel it is refused, and not tried without end',
  async () => {
    await expect(nodeFiles.makeDirectory('/proc/x/y')).rejects.toMatchObject({ path: '/proc/x', syscall: 'mkdir' });
  },
);

test.each(['file', 'file/below', 'link'])('where a file stands (%s) it is refused, with its path', async (path) => {
  writeFileSync(at('file'), '');
  if (!existsSync(at('link'))) symlinkSync(at('file'), at('link'));
  const expected = { code: 'ENOTDIR', path: at(path.startsWith('link') ? 'link' : 'file') };
  await expect(nodeFiles.makeDirectory(at(path))).rejects.toMatchObject(expected);
});

test('behind a link to a directory it is made there; a link to nothing is refused', async () => {
  mkdirSync(at('real'));
  symlinkSync(at('real'), at('to-real'));
  await nodeFiles.makeDirectory(at('to-real/new'));
  expect(existsSync(at('real/new'))).toBe(true);
  symlinkSync(at('nowhere'), at('to-nothing'));
  await expect(nodeFiles.makeDirectory(at('to-nothing/new'))).rejects.toMatchObject({ path: at('to-nothing') });
});
