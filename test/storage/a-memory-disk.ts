import { createFsFromVolume, Volume } from 'memfs';
import { createFiles, type Files, type RawFiles } from '../../src/storage/files.js';

/** A disk in memory behind the `files` port, which can watch each operation, and let one of them fail. */
export interface MemoryDisk {
  readonly files: Files;
  /** Operations of the disk so far: open, write, sync … */
  readonly operations: number;
  /** Files that were opened, and not closed since. */
  readonly openFiles: readonly string[];
  /** Text of every file below a directory, by its path in there. */
  snapshot(directory?: string): Record<string, string>;
  /** Names in a directory, empty directories among them. */
  list(directory: string): string[];
  readText(path: string): string;
  write(path: string, content: string | Uint8Array): void;
  /** Puts another file in the place of one that there is. */
  replace(path: string, content: string): void;
  has(path: string): boolean;
  /** The n-th operation from now on fails with `code`, once; a write takes half of its bytes first, and of a `short write` tells no error. */
  failAt(n: number, code?: string): void;
  /** Called before each operation: `write /out/journal.ndjson`. */
  onOperation: (operation: string) => void;
}

type Handle = Awaited<ReturnType<RawFiles['open']>>;

const WATCHED = ['write', 'sync', 'datasync', 'truncate', 'read'] as const;

export function aMemoryDisk(content: Record<string, string> = {}): MemoryDisk {
  const volume = Volume.fromJSON({ '/out/.keep': '', ...content });
  const raw = createFsFromVolume(volume).promises as unknown as RawFiles;
  let operations = 0;
  const openFiles: string[] = [];
  let failing: { at: number; code: string } | undefined;

  const isToFail = (name: string): boolean => {
    disk.onOperation(name);
    operations += 1;
    return operations === failing?.at;
  };
  const fail = (): never => {
    const code = failing?.code ?? 'EIO';
    throw Object.assign(new Error(`${code}: the disk fails, as the test wants it`), { code });
  };
  const watchHandle = (handle: Handle, path: string): Handle =>
    new Proxy(handle, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== 'function') return member;
        if (key === 'close') openFiles.splice(openFiles.indexOf(path), 1);
        const call = (args: unknown[]) => Reflect.apply(member, target, args);
        if (!WATCHED.some((name) => name === key)) return (...args: unknown[]) => call(args);
        return async (...args: unknown[]) => {
          if (!isToFail(`${String(key)} ${path}`)) return call(args);
          const [bytes, offset, length, position] = args;
          if (failing?.code === 'short write') return call([bytes, offset, Math.ceil(Number(length) / 2), position]);
          if (key === 'write') await call([bytes, offset, Math.floor(Number(length) / 2), position]);
          return fail();
        };
      },
    });
  const watched = new Proxy(raw, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      return async (...args: unknown[]) => {
        if (isToFail(`${String(key)} ${String(args[0])}`)) fail();
        const result = await Reflect.apply(member, target, args);
        if (key !== 'open') return result;
        openFiles.push(String(args[0]));
        return watchHandle(result, String(args[0]));
      };
    },
  });

  const files = createFiles(watched);
  const disk: MemoryDisk = {
    files: {
      ...files,
      // Times in memory are of the real clock: tests have their own.
      stat: async (path) => {
        const found = await files.stat(path);
        return found === undefined ? undefined : { ...found, modifiedMs: 0, bornMs: 0, changedMs: 0 };
      },
    },
    get operations() {
      return operations;
    },
    openFiles,
    snapshot: (directory = '/') =>
      Object.fromEntries(
        Object.entries(volume.toJSON(directory)).flatMap(([path, text]) =>
          text === null ? [] : [[path.slice(directory.length + 1), text]],
        ),
      ),
    list: (directory) => (volume.existsSync(directory) ? volume.readdirSync(directory).map(String).sort() : []),
    readText: (path) => String(volume.readFileSync(path, 'utf8')),
    write: (path, content) => volume.writeFileSync(path, content),
    replace: (path, content) => {
      volume.writeFileSync(`${path}~`, content);
      volume.renameSync(`${path}~`, path);
    },
    has: (path) => volume.existsSync(path),
    failAt: (n, code = 'EIO') => {
      failing = { at: operations + n, code };
    },
    onOperation: () => {},
  };
  return disk;
}
