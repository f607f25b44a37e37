import { randomUUID } from 'node:crypto';
import { constants, promises } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { closing, discarding } from '../domain/closing.js';
import { InternalError, namingErrors } from '../domain/errors.js';

/**
 * The disk as a port. Directories are made with mode 0700, files with 0600. A whole file is written to a temporary
 * name, synced, renamed, and its directory synced.
 */
export interface Files {
  /** Reads a text; undefined when there is no such file. */
  readText(path: string): Promise<string | undefined>;
  openRead(path: string): Promise<ReadFile>;
  /** Writes beside the path, to a name that ends in `.part`; the file gets its own in `finish()`, or never. */
  createWhole(path: string): Promise<WholeFile>;
  /** Leaves no file behind when the disk fails. A text may depend on the facts of its very file. */
  writeWhole(path: string, text: Text): Promise<void>;
  /** Opens for appending, and creates the file if missing. Its name is durable once this returns. */
  openAppend(path: string): Promise<AppendFile>;
  /** Opens a file to rewrite bytes in place; undefined when there is none. */
  openUpdate(path: string): Promise<UpdatedFile | undefined>;
  /**
   * False when the file exists already: of concurrent callers exactly one gets true. Leaves no file behind when the
   * disk fails.
   */
  createExclusive(path: string, text: Text): Promise<boolean>;
  /** Names in a directory, sorted; none when there is no such directory. */
  list(directory: string): Promise<string[]>;
  /** What a path is; undefined when there is no such path. */
  stat(path: string): Promise<FileFacts | undefined>;
  /** Makes a directory with its missing parents; their names are durable once this returns. */
  makeDirectory(path: string): Promise<void>;
  /** Durable once it returns. */
  rename(from: string, to: string): Promise<void>;
  /** A path that is not there is no error. */
  remove(path: string): Promise<void>;
  syncDirectory(path: string): Promise<void>;
}

type Text = string | ((own: FileFacts) => string);

export interface FileFacts {
  readonly bytes: number;
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  readonly modifiedMs: number;
  /** Stable for the life of a file or directory, wherever it is moved on its disk; a copy has another. 0: unknown. */
  readonly inode: number;
  readonly device: number;
  /** When it was made, to a fraction of a microsecond; 0 if the file system does not record it. It cannot be set. */
  readonly bornMs: number;
  /** When its content, name, owner or mode last changed, by the clock of the file system; 0: unknown. It cannot be set. */
  readonly changedMs: number;
}

export interface ReadFile {
  readonly bytes: number;
  /** Fewer bytes than `length` only at the end of the file. */
  read(offset: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

export interface WholeFile {
  write(chunk: string | Uint8Array): Promise<void>;
  finish(): Promise<void>;
  /** Does nothing to a file that is finished. */
  discard(): Promise<void>;
}

export interface AppendFile {
  /** Its length as it was opened, with what was appended since. */
  readonly bytes: number;
  /** As in `FileFacts`. */
  readonly inode: number;
  append(chunk: Uint8Array): Promise<void>;
  /** fdatasync: what was appended survives a power cut once this resolves. */
  sync(): Promise<void>;
  truncate(bytes: number): Promise<void>;
  close(): Promise<void>;
}

export interface UpdatedFile {
  /** The facts of the file as it was opened. */
  readonly facts: FileFacts;
  /** Writes without a sync: a kill cannot lose it, a power cut can. */
  write(bytes: Uint8Array, offset: number): Promise<void>;
  close(): Promise<void>;
}

/** The part of `node:fs/promises` that the port uses; memfs offers the same. */
export type RawFiles = Pick<
  typeof promises,
  'open' | 'rename' | 'mkdir' | 'readdir' | 'stat' | 'rm' | 'readFile' | 'unlink'
>;
type Handle = Awaited<ReturnType<RawFiles['open']>>;

/** `writer` distinguishes the unfinished files of two processes: of two containers they have the same id, 1. */
export function createFiles(system: RawFiles, writer = ''): Files {
  const raw = namingErrors(system);
  /** Names that are in use: two writers of one file have two, as a console answers many at once. */
  const unfinished = new Set<string>();
  const syncDirectory = async (path: string) => {
    await using handle = closing(await raw.open(path, constants.O_RDONLY));
    await handle.sync();
  };

  /** Where a file stands in the place of a directory of the path, there is nothing below it. */
  const statRaw = (path: string) =>
    raw.stat(path).catch((error) => (codeOf(error) === 'ENOTDIR' ? undefined : undefinedWhenMissing(error)));

  /** The missing directories from the path upwards. Throws, as mkdir does, if something else is there. */
  const findMissing = async (path: string): Promise<string[]> => {
    const missing: string[] = [];
    for (let each = resolve(path); ; each = dirname(each)) {
      const found = await statRaw(each);
      if (found === undefined) missing.push(each);
      else if (found.isDirectory()) return missing;
      else {
        const message = `ENOTDIR: not a directory, mkdir '${each}'`;
        throw Object.assign(new Error(message), { code: 'ENOTDIR', syscall: 'mkdir', path: each });
      }
    }
  };

  const rename = async (from: string, to: string) => {
    await raw.rename(from, to);
    await syncDirectory(dirname(to));
  };

  const openWhole = async (path: string): Promise<WholeFile & { facts(): Promise<FileFacts> }> => {
    let part = `${path}${writer}.part`;
    for (let n = 2; unfinished.has(part); n++) part = `${path}${writer}-${n}.part`;
    unfinished.add(part);
    const handle = await namingErrors(system, path)
      .open(part, 'w', 0o600)
      .catch((error: unknown) => {
        unfinished.delete(part);
        throw error;
      });
    let isFinished = false;
    return {
      facts: async () => factsOf(await handle.stat()),
      write: (chunk) => writeAll(handle, toBytes(chunk)),
      finish: async () => {
        await handle.sync();
        await handle.close();
        await rename(part, path);
        unfinished.delete(part);
        isFinished = true;
      },
      discard: async () => {
        if (isFinished) return;
        // `finish` may have failed when it was closed already.
        await handle.close().catch(() => {});
        await raw.rm(part, { force: true });
        unfinished.delete(part);
      },
    };
  };

  return {
    readText: (path) => raw.readFile(path, 'utf8').catch(undefinedWhenMissing) as Promise<string | undefined>,
    openRead: async (path) => openRead(raw, path),
    createWhole: openWhole,
    writeWhole: async (path, text) => {
      await using file = discarding(await openWhole(path));
      await file.write(typeof text === 'string' ? text : text(await file.facts()));
      await file.finish();
    },
    openAppend: async (path) => {
      const handle = await raw.open(path, 'a', 0o600);
      try {
        // Even if the file existed: its creator may have died before syncing.
        await syncDirectory(dirname(path));
        return appendFile(handle, factsOf(await handle.stat()));
      } catch (error) {
        await handle.close();
        throw error;
      }
    },
    openUpdate: async (path) => {
      const handle = await raw.open(path, 'r+').catch(undefinedWhenMissing);
      if (handle === undefined) return undefined;
      return {
        facts: factsOf(await handle.stat()),
        write: (bytes, offset) => writeAll(handle, bytes, offset),
        close: () => handle.close(),
      };
    },
    createExclusive: async (path, text) => {
      const handle = await raw.open(path, 'wx', 0o600).catch((error: unknown) => {
        if (codeOf(error) !== 'EEXIST') throw error;
      });
      if (handle === undefined) return false;
      try {
        await using file = closing(handle);
        const whole = typeof text === 'string' ? text : text(factsOf(await file.stat()));
        await writeAll(file, toBytes(whole));
        await file.sync();
        await syncDirectory(dirname(path));
      } catch (error) {
        // A partial file would be taken for another process's.
        await raw.rm(path, { force: true }).catch(() => {});
        throw error;
      }
      return true;
    },
    list: async (directory) => {
      const names = await raw.readdir(directory).catch(undefinedWhenMissing);
      return (names ?? []).map(String).sort();
    },
    stat: async (path) => {
      const found = await statRaw(path);
      return found && factsOf(found);
    },
    makeDirectory: async (path) => {
      const missing = await findMissing(path);
      // One by one: made recursively, a directory in procfs is asked for without end.
      for (const each of missing.toReversed()) {
        await raw.mkdir(each, { mode: 0o700 }).catch(async (error: unknown) => {
          // Another process may have made it meanwhile.
          if (codeOf(error) !== 'EEXIST' || !(await raw.stat(each)).isDirectory()) throw error;
        });
      }
      // Existing ones too: their creator may have died before syncing. Some may not be permitted.
      for (let made = resolve(path); made !== dirname(made); made = dirname(made)) {
        await syncDirectory(dirname(made)).catch(missing.includes(made) ? undefined : () => {});
      }
    },
    rename,
    remove: (path) => raw.rm(path, { recursive: true, force: true }),
    syncDirectory,
  };
}

export const nodeFiles: Files = createFiles(promises, `.${randomUUID().slice(0, 8)}.${process.pid}`);

function factsOf(found: Awaited<ReturnType<Handle['stat']>>): FileFacts {
  return {
    bytes: Number(found.size),
    isFile: found.isFile(),
    isDirectory: found.isDirectory(),
    modifiedMs: Number(found.mtimeMs),
    inode: Number(found.ino ?? 0),
    device: Number(found.dev ?? 0),
    bornMs: Number(found.birthtimeMs ?? 0),
    changedMs: Number(found.ctimeMs ?? 0),
  };
}

/** Makes what a file has durable, whichever process wrote it, and its name. */
export async function syncFile(files: Pick<Files, 'openAppend'>, path: string): Promise<void> {
  const file = await files.openAppend(path);
  await file.sync().finally(() => file.close());
}

/**
 * Removes from a directory what processes left that died while they wrote: files, and directories, that have no name of their own yet. `prefix`:
 * of their names; `beforeMs`: only what was last written before then, where other processes may be at work now.
 */
export async function removeLeftovers(
  files: Pick<Files, 'list' | 'stat' | 'remove'>,
  directory: string,
  { prefix = '', beforeMs }: { prefix?: string; beforeMs?: number } = {},
): Promise<void> {
  for (const name of await files.list(directory)) {
    if (!name.startsWith(prefix) || !name.endsWith('.part')) continue;
    const path = join(directory, name);
    const isOld = beforeMs === undefined || ((await files.stat(path))?.modifiedMs ?? beforeMs) < beforeMs;
    if (isOld) await files.remove(path);
  }
}

async function openRead(raw: RawFiles, path: string): Promise<ReadFile> {
  const handle = await raw.open(path, 'r');
  const { size } = await handle.stat().catch(async (error: unknown) => {
    await handle.close();
    throw error;
  });
  const bytes = Number(size);
  return {
    bytes,
    read: async (offset, length) => {
      // Most files are smaller than what is asked for at once; room for one byte more shows their end, or that they grew.
      let buffer = Buffer.allocUnsafe(Math.min(length, Math.max(bytes - offset, 0) + 1));
      for (let filled = 0; ; ) {
        const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, offset + filled);
        filled += bytesRead;
        if (bytesRead === 0 || filled === length) return buffer.subarray(0, filled);
        if (filled === buffer.length) buffer = Buffer.concat([buffer], length);
      }
    },
    close: () => handle.close(),
  };
}

function appendFile(handle: Handle, { bytes: size, inode }: FileFacts): AppendFile {
  let bytes = size;
  return {
    inode,
    get bytes() {
      return bytes;
    },
    append: async (chunk) => {
      await writeAll(handle, chunk);
      bytes += chunk.length;
    },
    sync: () => handle.datasync(),
    truncate: async (length) => {
      await handle.truncate(length);
      bytes = length;
    },
    close: () => handle.close(),
  };
}

/** A write may be short without an error. Without an offset it goes on where the file stands. */
async function writeAll(handle: Handle, bytes: Uint8Array, offset?: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const at = offset === undefined ? null : offset + written;
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, at);
    if (bytesWritten === 0) throw new InternalError('write-failed', 'Cannot write: the disk took no bytes');
    written += bytesWritten;
  }
}

function toBytes(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

function undefinedWhenMissing(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT') return undefined;
  throw error;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
