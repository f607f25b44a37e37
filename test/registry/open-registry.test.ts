import { describe, expect, test } from 'vitest';
import { openRegistry } from '../../src/registry/open-registry.js';
import { decodeRegistryLine, encodeRegistryLine } from '../../src/registry/registry-entry.js';
import type { Lock } from '../../src/storage/lock.js';
import { FakeClock } from '../run/fake-clock.js';
import { aMemoryDisk, type MemoryDisk } from '../storage/a-memory-disk.js';

const PATH = '/out/sale/registry.ndjson';

function aLock(known: Record<string, number> = {}): Lock {
  return {
    ...{ epoch: 1, lastOwnedMsAgo: undefined, lastRenewedAt: undefined },
    ...{ assertHeld: async () => {}, assertFresh: () => {}, release: async () => {} },
    known: (key) => (known[key] === undefined ? undefined : { bytes: known[key] }),
    ...{ isReplaced: false, wasKilledHere: false, attest: async () => {}, note: async () => {} },
  };
}

async function open(disk: MemoryDisk, more: { lock?: Lock; adoptedBy?: string; notices?: string[] } = {}) {
  const { lock = aLock(), adoptedBy, notices = [] } = more;
  await disk.files.makeDirectory('/out/sale');
  return openRegistry(
    { files: disk.files, clock: new FakeClock(), owner: { host: 'a', pid: 1, instance: 'x' } },
    { jobDirectory: '/out/sale', lock, adoptedBy, onNotice: (notice) => notices.push(notice) },
  );
}

describe('a registry', () => {
  test('is made where there is none, and read as it was written', async () => {
    const disk = aMemoryDisk();
    const notices: string[] = [];
    await open(disk, { notices });
    const text = disk.readText(PATH);
    const entry = decodeRegistryLine(Buffer.from(text.trimEnd()));
    expect(entry).toMatchObject({ type: 'made', version: 1, directory: { path: '/out/sale' } });
    expect(encodeRegistryLine(entry as never).toString()).toBe(text);
    await open(disk);
    expect([disk.readText(PATH), notices]).toEqual([text, []]);
  });

  test('that is shorter than the last owner noted, or gone, is refused until a person adopts it', async () => {
    const disk = aMemoryDisk();
    await open(disk);
    const lock = aLock({ 'registry.ndjson': 100_000 });
    await expect(open(disk, { lock })).rejects.toMatchObject({ code: 'registry-mismatch' });
    const gone = aMemoryDisk();
    await expect(open(gone, { lock })).rejects.toMatchObject({ code: 'registry-mismatch' });
    expect(gone.has(PATH)).toBe(false);
    await open(disk, { lock, adoptedBy: 'ann on desk-7' });
    expect(disk.readText(PATH)).toContain('"by":"ann on desk-7"');
  });

  test('that another owner of the lock wrote to meanwhile is not called a copy: the lock is lost', async () => {
    const disk = aMemoryDisk();
    await open(disk);
    let looks = 0;
    const lost = async () => {
      looks += 1;
      // Stopped behind the first look, for longer than its lease.
      if (looks > 1) throw new Error('this process lost its lock');
    };
    const lock = { ...aLock({ 'registry.ndjson': 100_000 }), assertHeld: lost };
    const text = disk.readText(PATH);
    await expect(open(disk, { lock })).rejects.toThrow('lost its lock');
    looks = 0;
    await expect(open(disk, { lock, adoptedBy: 'ann on desk-7' })).rejects.toThrow('lost its lock');
    expect(disk.readText(PATH)).toBe(text);
  });

  test.each([
    ['a line that was never whole', '{"crc":"00000000","type":"ended","pl'],
    ['zeros of a sector that was never written', '\0\0\0\0'],
  ])('goes on behind %s', async (_what, tear) => {
    const disk = aMemoryDisk();
    await open(disk);
    disk.write(PATH, disk.readText(PATH) + tear);
    await open(disk, { lock: aLock({ 'registry.ndjson': 100_000 }), adoptedBy: 'ann' });
    expect((await open(disk)).state.registry).toBeDefined();
    expect(disk.readText(PATH)).toContain(`${tear}~\n{"crc"`);
  });

  test('of which a bit was flipped is refused, with the line', async () => {
    const disk = aMemoryDisk();
    await open(disk);
    disk.write(PATH, disk.readText(PATH).replace('/out/sale', '/out/sala'));
    await expect(open(disk)).rejects.toThrow('line 1 is damaged');
  });

  test.each([
    ['the last byte of a line', (text: string) => text.replace(/\}\n/, '|\n')],
    ['the last byte, as if the line had never been whole', (text: string) => text.replace(/\}\n/, '~\n')],
    ['the newline between two lines', (text: string) => text.replace('\n', 'x')],
    ['all of a line', (text: string) => text.replace(/^.*\n/, (line) => `${'\0'.repeat(line.length - 1)}\n`)],
  ])('of which %s is damaged, with lines behind it, is refused', async (_what, damage) => {
    const disk = aMemoryDisk();
    await open(disk);
    await open(disk, { lock: aLock({ 'registry.ndjson': 100_000 }), adoptedBy: 'ann' });
    disk.write(PATH, damage(disk.readText(PATH)));
    await expect(open(disk)).rejects.toThrow('line 1 is damaged');
  });

  test.each(['|\n', '~\n', '}x'])('of which the last line ends in %j is refused', async (end) => {
    const disk = aMemoryDisk();
    await open(disk);
    const text = disk.readText(PATH);
    disk.write(PATH, `${text.slice(0, -2)}${end}`);
    await expect(open(disk, { lock: aLock({ 'registry.ndjson': text.length }) })).rejects.toMatchObject({
      code: 'registry-mismatch',
    });
  });

  test('reads a line that stands in one with the torn piece of a process that lost its lock', async () => {
    const disk = aMemoryDisk();
    await open(disk);
    const made = disk.readText(PATH);
    const line = encodeRegistryLine({ type: 'abandoned', at: 1, plan: 'p', by: 'ann' }, made.length);
    disk.write(PATH, `${made}{"crc":"00000000","after":0,"type":"beg${line}`);
    expect((await open(disk)).state.abandoned.has('p')).toBe(true);
  });

  test('whose disk fails at any operation is an error, and whole at the next', async () => {
    const count = await countOperations();
    expect(count).toBeGreaterThan(5);
    for (let n = 1; n <= count; n++) {
      const disk = aMemoryDisk();
      await disk.files.makeDirectory('/out/sale');
      disk.failAt(n);
      const failed = await open(disk).catch((error) => error.code);
      expect(['EIO', undefined], `operation ${n}`).toContain(typeof failed === 'string' ? failed : undefined);
      expect((await open(disk)).state.registry, `after operation ${n}`).toBeDefined();
    }
  });
});

async function countOperations(): Promise<number> {
  const disk = aMemoryDisk();
  await disk.files.makeDirectory('/out/sale');
  const before = disk.operations;
  await open(disk);
  return disk.operations - before;
}
