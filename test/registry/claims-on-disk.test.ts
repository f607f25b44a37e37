import { describe, expect, test } from 'vitest';
import { sealJson } from '../../src/plan/format/sealed-json.js';
import type { Registry } from '../../src/registry/registry.js';
import { aJob } from '../plan/a-plan.js';
import { aMemoryDisk, type MemoryDisk } from '../storage/a-memory-disk.js';
import { aLock, begun, claimsOf, documentOf, JOB, MISMATCH, open, PATH } from './open-memory.js';

describe('what plans have claimed', () => {
  const claim = async (disk: MemoryDisk, plan = 'p') => {
    await (await open(disk)).write({ claims: [claimsOf(plan)] });
    const name = disk.list(`${JOB}/claims`).find((each) => each.startsWith(`${plan}-`));
    return `${JOB}/claims/${name}`;
  };

  test.each<[string, (disk: MemoryDisk, path: string) => Promise<void>]>([
    ['gone', (disk, path) => disk.files.remove(path)],
    ['damaged', async (disk, path) => disk.write(path, '')],
    ['another', async (disk, path) => disk.write(path, sealJson({ ...claimsOf('p'), count: 1 }))],
  ])(
    'is refused where its file is %s, until a person adopts it: its rows would be free again',
    async (_how, change) => {
      const disk = aMemoryDisk();
      const path = await claim(disk);
      await change(disk, path);
      expect(await open(disk).catch((error) => error)).toMatchObject({ ...MISMATCH, problems: [{ where: path }] });

      await open(disk, { adoptedBy: 'ann' });

      await open(disk, { lock: aLock(3) });
    },
  );

  test('counts where the memory does not know of it, as its process died before, and is known to be there from the next change on', async () => {
    const disk = aMemoryDisk();
    const path = await claim(disk);
    disk.write(PATH, sealJson({ ...documentOf(disk), claims: {} }));
    const registry = await open(disk);
    expect(registry.state.claims.countOf('p')).toBe(3);
    await registry.note('q', { begun });
    expect(Object.keys(documentOf(disk, 2).claims).map((name) => `${JOB}/claims/${name}`)).toEqual([path]);
    await disk.files.remove(path);
    await expect(open(disk)).rejects.toMatchObject(MISMATCH);
  });

  test('counts once where it was written twice, and what no file was made of goes with the next change', async () => {
    const disk = aMemoryDisk();
    await claim(disk);
    disk.write(`${JOB}/claims/p-0123456789ab.json`, sealJson({ ...claimsOf('p'), at: 9 }));
    disk.write(`${JOB}/claims/q-0123456789ab.json.a1.part`, '{');
    const registry = await open(disk);
    expect(registry.state.claims.countOf('p')).toBe(3);
    await registry.note('q', { begun });
    expect(disk.list(`${JOB}/claims`).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('is refused where its file is damaged, also where the memory does not know of it', async () => {
    const disk = aMemoryDisk();
    const path = await claim(disk);
    disk.write(PATH, sealJson({ ...documentOf(disk), claims: {} }));
    disk.write(path, disk.readText(path).replace('0,3', '0,4'));
    expect(await open(disk).catch((error) => error)).toMatchObject({ ...MISMATCH, problems: [{ where: path }] });
    await open(disk, { adoptedBy: 'ann' });
    await open(disk);
  });

  test('stays with the plan that the memory knows, whatever an owner of the lock that was paused writes late', async () => {
    const disk = aMemoryDisk();
    await claim(disk);
    const late = { ...claimsOf('late'), rows: claimsOf('p').rows, at: 9 };
    disk.write(`${JOB}/claims/late-0123456789ab.json`, sealJson(late));
    const ownerIn = ({ state }: Registry) =>
      state.claims.listOwners('sms', { file: 'p-source-1-', row: 1 }, { job: aJob(), occurrence: '' }).at(-1);
    const registry = await open(disk);
    expect(ownerIn(registry)).toBe('p');
    await registry.note('q', { begun });
    expect(ownerIn(await open(disk))).toBe('p');
  });

  test('is free again where a person let a plan go that had rows of re-imports and was never begun, and stays else', async () => {
    const disk = aMemoryDisk();
    for (const plan of ['let-go', 'began']) await claim(disk, plan);
    const registry = await open(disk);
    await registry.note('began', { begun });
    for (const plan of ['let-go', 'began']) await registry.note(plan, { abandoned: { at: 1, by: 'ann' } });
    const { state } = await open(disk);
    expect(['let-go', 'began'].map((plan) => state.claims.countOf(plan))).toEqual([0, 3]);
  });
});
