import { cpSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nodeFiles } from '../../src/storage/files.js';
import { type Identity, identityOf, isSameIdentity } from '../../src/storage/identity.js';
import { aFolder } from '../plan/a-plan.js';

async function look(path: string): Promise<Identity> {
  const found = await nodeFiles.stat(path);
  if (found === undefined) throw new Error(`${path} is not there`);
  return identityOf(path, found);
}

test.each(['out', 'out/file'])('%s that is moved is the same; a copy is another one', async (name) => {
  const root = aFolder({ 'out/file': '1' });
  const before = await look(join(root, name));
  cpSync(join(root, 'out'), join(root, 'copy'), { recursive: true, preserveTimestamps: true });
  expect(isSameIdentity(before, await look(join(root, name.replace('out', 'copy'))))).toBe(false);
  renameSync(join(root, 'out'), join(root, 'moved'));
  expect(isSameIdentity(before, await look(join(root, name.replace('out', 'moved'))))).toBe(true);
});

describe('two looks', () => {
  const one: Identity = { path: '/out/sale', device: 1, inode: 7, bornMs: 1000 };

  test.each<[string, Partial<Identity>, boolean]>([
    ['of one that was mounted again elsewhere are of the same', { device: 2, path: '/mnt/out/sale' }, true],
    ['of a copy that got the inode of one that is gone are not', { bornMs: 1000.5 }, false],
    ['with another inode are not', { inode: 8 }, false],
    ['of one whose inode is not known may be of the same', { inode: 0 }, true],
    ['without a birth time on one device are of the same', { bornMs: 0, path: '/moved' }, true],
    ['without a birth time under one path are of the same', { bornMs: 0, device: 2 }, true],
    ['without a birth time elsewhere on another device are not', { bornMs: 0, device: 2, path: '/copy' }, false],
  ])('%s', (_which, changes, isSame) => {
    expect(isSameIdentity(one, { ...one, ...changes })).toBe(isSame);
    expect(isSameIdentity({ ...one, ...changes }, one)).toBe(isSame);
  });
});
