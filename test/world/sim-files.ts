import { constants } from 'node:fs';
import { dirname } from 'node:path';
import { createFiles, type Files, type RawFiles } from '../../src/storage/files.js';
import { type CrashDisk, namesIn } from './crash-disk.js';

type Handle = Awaited<ReturnType<RawFiles['open']>>;

/** Does one operation of a process: at once, later, or never. `tear` does a part of it, for a process that dies in the middle. */
export type Perform = <T>(name: string, act: () => T, tear?: () => T) => Promise<T>;

/** The files of one process on the simulated disk. */
export function createSimFiles(
  disk: CrashDisk,
  perform: Perform,
  options: { pid: number; nowMs: () => number; onSynced?: (path: string) => void },
): Files {
  const noteBorn = (path: string) => {
    disk.noteBorn(disk.inodeOf(path), options.nowMs());
    disk.noteModified(disk.inodeOf(path), options.nowMs());
  };
  const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);

  const noteCreated = (path: string) => {
    const inode = disk.inodeOf(path);
    disk.noteNames([dirname(path)], (names, [parent = 0]) => namesIn(names, parent).set(nameOf(path), inode));
  };
  const makeDirectory = (path: string): string | undefined => {
    if (disk.volume.existsSync(path)) return undefined;
    const first = makeDirectory(dirname(path)) ?? path;
    disk.volume.mkdirSync(path);
    noteBorn(path);
    const inode = disk.inodeOf(path);
    disk.noteNames([dirname(path)], (names, [parent = 0]) => {
      namesIn(names, parent).set(nameOf(path), inode);
      namesIn(names, inode);
    });
    return first;
  };

  const openHandle = (fd: number, path: string, isDirectory: boolean): Handle => {
    const inode = Number(disk.volume.fstatSync(fd).ino);
    let isClosed = false;
    const content = () => {
      const bytes = Buffer.alloc(Number(disk.volume.fstatSync(fd).size));
      disk.volume.readSync(fd, bytes, 0, bytes.length, 0);
      return bytes;
    };
    const sync = (name: string) =>
      perform(`${name} ${path}`, () => {
        if (isDirectory) return disk.syncDirectory(path);
        disk.syncFile(inode, content());
        options.onSynced?.(path);
      });
    const write = (bytes: Uint8Array, offset: number, length: number, position: number | null) => {
      const bytesWritten = disk.volume.writeSync(fd, Buffer.from(bytes), offset, length, position ?? undefined);
      disk.noteModified(inode, options.nowMs());
      return { bytesWritten };
    };
    return {
      write: (bytes: Uint8Array, offset: number, length: number, position: number | null) =>
        perform(
          `write ${path}`,
          () => write(bytes, offset, length, position),
          () => write(bytes, offset, Math.floor(length / 2), position),
        ),
      read: (buffer: Buffer, offset: number, length: number, position: number) =>
        perform(`read ${path}`, () => ({ bytesRead: disk.volume.readSync(fd, buffer, offset, length, position) })),
      sync: () => sync('sync'),
      datasync: () => sync('datasync'),
      truncate: (length: number) =>
        perform(`truncate ${path}`, () => {
          disk.volume.ftruncateSync(fd, length);
          disk.noteModified(inode, options.nowMs());
        }),
      stat: async () => {
        const stat = disk.volume.fstatSync(fd);
        const { inode: ino, bornMs: birthtimeMs } = disk.identityOf(inode);
        const kind = { isFile: () => stat.isFile(), isDirectory: () => stat.isDirectory() };
        return { size: stat.size, ino, dev: 1, birthtimeMs, ...kind };
      },
      close: async () => {
        // Its number may be another file's by then.
        if (isClosed) throw Object.assign(new Error('EBADF: file closed'), { code: 'EBADF', syscall: 'close' });
        isClosed = true;
        disk.volume.closeSync(fd);
      },
    } as unknown as Handle;
  };

  const raw = {
    open: (path: string, flags: string | number) =>
      perform(`open ${path} ${flags}`, () => {
        const isThere = disk.volume.existsSync(path);
        const isDirectory = isThere && disk.volume.statSync(path).isDirectory();
        const fd = disk.volume.openSync(path, isDirectory ? constants.O_RDONLY : flags, 0o600);
        if (!isThere) {
          noteCreated(path);
          noteBorn(path);
        }
        return openHandle(fd, path, isDirectory);
      }),
    rename: (from: string, to: string) =>
      perform(`rename ${from} ${to}`, () => {
        const inode = disk.inodeOf(from);
        disk.volume.renameSync(from, to);
        disk.noteChanged(inode, options.nowMs());
        disk.noteNames([dirname(from), dirname(to)], (names, [source = 0, target = 0]) => {
          namesIn(names, source).delete(nameOf(from));
          namesIn(names, target).set(nameOf(to), inode);
        });
      }),
    mkdir: (path: string) => perform(`mkdir ${path}`, () => makeDirectory(path)),
    readdir: (path: string) => perform(`readdir ${path}`, () => disk.volume.readdirSync(path).map(String)),
    stat: (path: string) =>
      perform(`stat ${path}`, () => {
        const stat = disk.volume.statSync(path);
        const { inode: ino, bornMs: birthtimeMs } = disk.identityOf(Number(stat.ino));
        const { modifiedMs: mtimeMs, changedMs: ctimeMs } = disk.timesOf(Number(stat.ino));
        const times = { mtimeMs, ctimeMs, birthtimeMs };
        const kind = { isFile: () => stat.isFile(), isDirectory: () => stat.isDirectory() };
        return { size: stat.size, ino, dev: 1, mode: 0o600, ...times, ...kind };
      }),
    rm: (path: string) =>
      perform(`rm ${path}`, () => {
        if (!disk.volume.existsSync(path)) return;
        disk.volume.rmSync(path, { recursive: true, force: true });
        disk.noteNames([dirname(path)], (names, [parent = 0]) => namesIn(names, parent).delete(nameOf(path)));
      }),
    readFile: (path: string) => perform(`readFile ${path}`, () => disk.volume.readFileSync(path, 'utf8')),
    unlink: (path: string) => perform(`unlink ${path}`, () => disk.volume.unlinkSync(path)),
  } as unknown as RawFiles;
  return createFiles(raw, `.${options.pid}`);
}
