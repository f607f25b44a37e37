import { promises, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createFiles, type Files, nodeFiles, type RawFiles } from '../../src/storage/files.js';
import { aFolder } from '../plan/a-plan.js';
import { aMemoryDisk } from './a-memory-disk.js';

let directory = '';
beforeEach(() => {
  directory = aFolder();
});

const at = (name: string) => join(directory, name);
const modeOf = (path: string) => statSync(path).mode & 0o777;

/** The real disk, which takes and gives at most `most` bytes a call. */
function aShortDisk(most: number) {
  const open = async (...args: Parameters<RawFiles['open']>) => {
    const handle = await promises.open(...args);
    return new Proxy(handle, {
      get: (target, key) => {
        const member = Reflect.get(target, key);
        if (key === 'write' || key === 'read') {
          return (bytes: Uint8Array, offset: number, length: number, position: number | null = null) =>
            Reflect.apply(member, target, [bytes, offset, Math.min(length, most), position]);
        }
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  };
  return createFiles({ ...promises, open });
}

/** The operations of a task, in order, on a disk in memory. */
async function traceOf(task: (files: ReturnType<typeof aMemoryDisk>['files']) => Promise<unknown>): Promise<string[]> {
  const disk = aMemoryDisk();
  const trace: string[] = [];
  disk.onOperation = (operation) => void trace.push(operation);
  await task(disk.files);
  return trace;
}

describe('a whole file', () => {
  test('appears only when it is finished', async () => {
    const file = await nodeFiles.createWhole(at('a.csv'));
    await file.write('first,');
    await file.write(Buffer.from('second'));
    expect(readdirSync(directory)).toEqual([expect.stringMatching(/^a\.csv\.[0-9a-f]{8}\.\d+\.part$/)]);
    await file.finish();
    expect(readdirSync(directory)).toEqual(['a.csv']);
    expect(readFileSync(at('a.csv'), 'utf8')).toBe('first,second');
  });

  test('leaves an older file of its name as it was, until it is finished', async () => {
    await nodeFiles.writeWhole(at('a.csv'), 'old and longer');
    const file = await nodeFiles.createWhole(at('a.csv'));
    await file.write('new');
    expect(readFileSync(at('a.csv'), 'utf8')).toBe('old and longer');
    await file.finish();
    expect(readFileSync(at('a.csv'), 'utf8')).toBe('new');
  });

  test('of one process does not stand in the way of the same file of another', async () => {
    writeFileSync(at('a.csv.1.part'), 'being written by another');
    await nodeFiles.writeWhole(at('a.csv'), 'ours');
    expect(readdirSync(directory)).toEqual(['a.csv', 'a.csv.1.part']);
  });

  test('that one process writes twice at once is the one that was finished last, whole', async () => {
    const [first, second] = [await nodeFiles.createWhole(at('a.csv')), await nodeFiles.createWhole(at('a.csv'))];
    await second.write('second');
    await first.write('first, and longer');
    await first.finish();
    expect(readFileSync(at('a.csv'), 'utf8')).toBe('first, and longer');
    await second.finish();
    expect(readFileSync(at('a.csv'), 'utf8')).toBe('second');
    const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
    await Promise.all(texts.map((text) => nodeFiles.writeWhole(at('a.csv'), text)));
    expect(texts).toContain(readFileSync(at('a.csv'), 'utf8'));
    expect(readdirSync(directory)).toEqual(['a.csv']);
  });

  test('is what its process wrote, though another of the same id writes it as well, in another container', async () => {
    vi.resetModules();
    const { nodeFiles: others } = await import('../../src/storage/files.js');
    const [ours, theirs] = [await nodeFiles.createWhole(at('a.csv')), await others.createWhole(at('a.csv'))];
    await ours.write('all of ours');
    await theirs.write('theirs');
    await ours.finish();
    expect(readFileSync(at('a.csv'), 'utf8')).toBe('all of ours');
    await theirs.finish();
    expect(readFileSync(at('a.csv'), 'utf8')).toBe('theirs');
  });

  test('leaves nothing when it is discarded', async () => {
    const file = await nodeFiles.createWhole(at('a.csv'));
    await file.write('some');
    await file.discard();
    expect(readdirSync(directory)).toEqual([]);
  });

  test('is synced before it gets its name, and its directory after', async () => {
    const trace = await traceOf((files) => files.writeWhole('/out/a', 'text'));
    expect(trace).toEqual([
      'open /out/a.part',
      'write /out/a.part',
      'sync /out/a.part',
      'rename /out/a.part',
      'open /out',
      'sync /out',
    ]);
  });

  test('keeps what stood there before, and leaves no part, whichever operation fails before the rename', async () => {
    for (let n = 1; n <= 4; n++) {
      const disk = aMemoryDisk({ '/out/a': 'old' });
      disk.failAt(n, 'ENOSPC');
      await expect(disk.files.writeWhole('/out/a', 'new')).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(disk.readText('/out/a'), `operation ${n}`).toBe('old');
      expect(disk.list('/out'), `operation ${n}`).toEqual(['.keep', 'a']);
    }
  });
});

describe('an error of a file that is open', () => {
  const OPERATIONS: Readonly<Record<string, (files: Files, path: string) => Promise<unknown>>> = {
    write: (files, path) => files.writeWhole(path, 'text'),
    sync: (files, path) => files.writeWhole(path, 'text'),
    close: (files, path) => files.writeWhole(path, 'text'),
    datasync: async (files, path) => (await files.openAppend(path)).sync(),
    truncate: async (files, path) => (await files.openAppend(path)).truncate(0),
    stat: (files, path) => files.openRead(path),
    read: async (files, path) => (await files.openRead(path)).read(0, 9),
  };

  test.each(Object.entries(OPERATIONS))(
    '%s: names the path, and a code that Node does not know',
    async (name, task) => {
      writeFileSync(at('a'), 'old');
      const open = async (...args: Parameters<RawFiles['open']>) => {
        const fault = { errno: -122, code: 'Unknown system error -122', syscall: name };
        const fail = () => Promise.reject(Object.assign(new Error(`${fault.code}, ${name}`), fault));
        return Object.assign(await promises.open(...args), String(args[0]).startsWith(at('a')) ? { [name]: fail } : {});
      };

      const failing = task(createFiles({ ...promises, open }), at('a'));

      await expect(failing).rejects.toMatchObject({ code: 'EDQUOT', path: at('a'), syscall: name });
    },
  );
});

describe('modes', () => {
  test('of files are 0600, of directories 0700, made in one go', async () => {
    await nodeFiles.makeDirectory(at('x/y'));
    await nodeFiles.writeWhole(at('x/y/whole'), '');
    await nodeFiles.createExclusive(at('x/y/exclusive'), '');
    await (await nodeFiles.openAppend(at('x/y/append'))).close();
    expect([at('x'), at('x/y')].map(modeOf)).toEqual([0o700, 0o700]);
    expect(['whole', 'exclusive', 'append'].map((name) => modeOf(at(`x/y/${name}`)))).toEqual([0o600, 0o600, 0o600]);
  });

  test('of a directory that is there already stay as they are', async () => {
    await promises.chmod(directory, 0o755);
    await nodeFiles.makeDirectory(directory);
    expect(modeOf(directory)).toBe(0o755);
  });
});

describe('durable names', () => {
  test('each directory has its name synced in the one above, also where another process made it and may have died at once', async () => {
    // On the real disk: memfs does not say which directories it made.
    const synced: string[] = [];
    const open = async (...args: Parameters<RawFiles['open']>) => {
      const handle = await promises.open(...args);
      const { sync } = handle;
      handle.sync = () => {
        synced.push(String(args[0]));
        return sync.call(handle);
      };
      return handle;
    };
    const files = createFiles({ ...promises, open });
    for (const _ of ['made', 'found']) {
      await files.makeDirectory(at('a/b'));
      expect(synced.splice(0)).toEqual(expect.arrayContaining([directory, at('a')]));
    }
  });

  test('a file for appending has its name synced, also when an earlier process made it and died', async () => {
    expect(await traceOf((files) => files.openAppend('/out/journal'))).toContain('sync /out');
    const disk = aMemoryDisk({ '/out/journal': '' });
    const trace: string[] = [];
    disk.onOperation = (operation) => void trace.push(operation);
    await disk.files.openAppend('/out/journal');
    expect(trace).toContain('sync /out');
  });

  test('a file made exclusively is synced, and then its name', async () => {
    const trace = await traceOf((files) => files.createExclusive('/out/lock', 'x'));
    expect(trace).toEqual(['open /out/lock', 'write /out/lock', 'sync /out/lock', 'open /out', 'sync /out']);
  });

  test('a renamed file has its new name synced', async () => {
    const disk = aMemoryDisk({ '/out/a': 'text', '/out/d/.keep': '' });
    const trace: string[] = [];
    disk.onOperation = (operation) => void trace.push(operation);
    await disk.files.rename('/out/a', '/out/d/b');
    expect(trace).toEqual(['rename /out/a', 'open /out/d', 'sync /out/d']);
    expect([disk.has('/out/a'), disk.readText('/out/d/b')]).toEqual([false, 'text']);
  });
});

describe('making a file exclusively', () => {
  test('succeeds once, and leaves what stands there alone', async () => {
    expect(await nodeFiles.createExclusive(at('lock'), 'first')).toBe(true);
    expect(await nodeFiles.createExclusive(at('lock'), 'second')).toBe(false);
    expect(readFileSync(at('lock'), 'utf8')).toBe('first');
  });

  test('succeeds for exactly one of several callers at once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const made = await Promise.all(names.map((name) => nodeFiles.createExclusive(at('lock'), name)));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(readFileSync(at('lock'), 'utf8')).toBe(names[made.indexOf(true)]);
  });

  test('fails, rather than say that the file is there, for any other reason', async () => {
    await expect(nodeFiles.createExclusive(at('missing/lock'), 'x')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('appending', () => {
  test('appends at the end of what is there, and knows its length', async () => {
    writeFileSync(at('journal'), 'one\n');
    const file = await nodeFiles.openAppend(at('journal'));
    expect(file.bytes).toBe(4);
    await file.append(Buffer.from('two\n'));
    await file.sync();
    expect(file.bytes).toBe(8);
    await file.truncate(6);
    await file.append(Buffer.from('!'));
    expect(file.bytes).toBe(7);
    await file.close();
    expect(readFileSync(at('journal'), 'utf8')).toBe('one\ntw!');
  });

  test('of two at once loses nothing of either', async () => {
    const [one, other] = [await nodeFiles.openAppend(at('journal')), await nodeFiles.openAppend(at('journal'))];
    await one.append(Buffer.from('one\n'));
    await other.append(Buffer.from('other\n'));
    await one.append(Buffer.from('one\n'));
    await Promise.all([one.close(), other.close()]);
    expect(readFileSync(at('journal'), 'utf8')).toBe('one\nother\none\n');
  });
});

describe('a disk that takes fewer bytes than it is given', () => {
  test('gets the rest, in every way of writing', async () => {
    const text = 'every byte of it, and the é too';
    const files = aShortDisk(3);
    await files.writeWhole(at('whole'), text);
    await files.createExclusive(at('exclusive'), text);
    const file = await files.openAppend(at('append'));
    await file.append(Buffer.from(text));
    expect(file.bytes).toBe(Buffer.byteLength(text));
    await file.close();
    for (const name of ['whole', 'exclusive', 'append']) expect(readFileSync(at(name), 'utf8')).toBe(text);
  });

  test('is asked for the rest when it is read', async () => {
    writeFileSync(at('a'), 'abcdefghij');
    const file = await aShortDisk(3).openRead(at('a'));
    expect((await file.read(1, 8)).toString()).toBe('bcdefghi');
    await file.close();
  });

  test('and takes none at all, is an error rather than a loop', async () => {
    await expect(aShortDisk(0).writeWhole(at('a'), 'x')).rejects.toMatchObject({ code: 'write-failed' });
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe('reading', () => {
  test('gives fewer bytes only at the end of the file', async () => {
    writeFileSync(at('a'), 'abcdef');
    const file = await nodeFiles.openRead(at('a'));
    expect(file.bytes).toBe(6);
    const pieces = await Promise.all([file.read(0, 6), file.read(4, 10), file.read(6, 1), file.read(99, 1)]);
    expect(pieces.map(String)).toEqual(['abcdef', 'ef', '', '']);
    await file.close();
  });

  test('gives what was added since the file was opened, however much is asked for', async () => {
    writeFileSync(at('a'), 'abc');
    const file = await nodeFiles.openRead(at('a'));
    writeFileSync(at('a'), 'abcdefghij');
    const pieces = await Promise.all([file.read(0, 100), file.read(2, 4), file.read(8, 100), file.read(0, 0)]);
    expect(pieces.map(String)).toEqual(['abcdefghij', 'cdef', 'ij', '']);
    await file.close();
  });

  test('what is not there gives nothing, where that is allowed', async () => {
    expect(await nodeFiles.readText(at('none'))).toBeUndefined();
    expect(await nodeFiles.stat(at('none'))).toBeUndefined();
    expect(await nodeFiles.list(at('none'))).toEqual([]);
    await nodeFiles.remove(at('none'));
    await expect(nodeFiles.openRead(at('none'))).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(nodeFiles.rename(at('none'), at('other'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('what is there but cannot be read is an error, not taken for missing', async () => {
    await expect(nodeFiles.readText(directory)).rejects.toMatchObject({ code: 'EISDIR' });
    writeFileSync(at('file'), '');
    await expect(nodeFiles.list(at('file'))).rejects.toMatchObject({ code: 'ENOTDIR' });
    expect(await nodeFiles.stat(at('file/below'))).toBeUndefined();
    await expect(nodeFiles.stat(at('x'.repeat(300)))).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
  });

  test('a directory’s names are sorted, and each path says what it is', async () => {
    for (const name of ['b', 'a', 'C']) writeFileSync(at(name), name);
    expect(await nodeFiles.list(directory)).toEqual(['C', 'a', 'b']);
    expect(await nodeFiles.stat(at('b'))).toMatchObject({ bytes: 1, isFile: true, isDirectory: false });
    expect(await nodeFiles.stat(directory)).toMatchObject({ isFile: false, isDirectory: true });
  });

  test('removing takes a directory with all that is in it', async () => {
    await nodeFiles.makeDirectory(at('d/e'));
    writeFileSync(at('d/e/f'), '');
    await nodeFiles.remove(at('d'));
    expect(readdirSync(directory)).toEqual([]);
  });
});
