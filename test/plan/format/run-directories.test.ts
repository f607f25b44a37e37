import { expect, test } from 'vitest';
import { RunDirectories, readRunName } from '../../../src/plan/format/run-directories.js';
import { aMemoryDisk } from '../../storage/a-memory-disk.js';

const ID = 'k3v9q2m8x4aa';
const AT = Date.UTC(2026, 10, 22, 9, 30, 59);

async function read(...names: string[]): Promise<RunDirectories> {
  const { files } = aMemoryDisk();
  for (const name of names) await files.makeDirectory(`/out/sale/${name}`);
  return RunDirectories.read(files, '/out/sale');
}

test('a new plan gets a directory that is named for the minute, in UTC, and for its id; one that is there stays', async () => {
  const directories = await read();
  expect(directories.find(ID)).toBeUndefined();
  expect(directories.place(ID, AT)).toBe(`/out/sale/2026-11-22T0930-${ID}`);
  expect(directories.place(ID, AT + 3_600_000)).toBe(`/out/sale/2026-11-22T0930-${ID}`);
  expect(directories.of(ID)).toBe(`/out/sale/2026-11-22T0930-${ID}`);
  for (const name of [ID, `2020-02-29T2359-${ID}`]) {
    expect((await read(name)).place(ID, AT)).toBe(`/out/sale/${name}`);
  }
});

test('a run that is gone is where it would be: by its last name, where that is known', async () => {
  const directories = await read(`2026-11-22T0930-${ID.replace('k', 'z')}`);
  expect(directories.of(ID)).toBe(`/out/sale/${ID}`);
  directories.remember(ID, `2026-11-22T0930-${ID}`);
  expect([directories.of(ID), directories.find('other')]).toEqual([`/out/sale/2026-11-22T0930-${ID}`, undefined]);
});

test('two directories of one id are refused, with both names', async () => {
  const directories = await read(ID, `2026-11-22T0930-${ID}`);
  expect(() => directories.of(ID)).toThrow(`2026-11-22T0930-${ID} and ${ID} end in its id, expected one directory`);
  expect(() => directories.place(ID, AT)).toThrow('end in its id');
});

test('a name that is no run directory is no other id', () => {
  for (const name of [`.${ID}-7.part`, `${ID}.bak`, 'memory-000001.json', `2026-11-22-${ID}`]) {
    expect(readRunName(name)).toBe(name);
  }
});
