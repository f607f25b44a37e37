import { Volume } from 'memfs';
import type { Random } from '../../src/sandbox/random.js';

/** A change of names in directories, on its way to the platter. */
interface NameChange {
  /** Directories that it is in; it is durable once one of them is synced. */
  readonly directories: readonly number[];
  readonly apply: (names: Names) => void;
}

/** Of each directory, by inode: name → inode. */
type Names = Map<number, Map<string, number>>;

/** What tells a file or directory from its copy. */
type SimIdentity = Readonly<{ inode: number; bornMs: number }>;

type FileTimes = Readonly<{ modifiedMs: number; changedMs: number }>;

/** Those of one directory, to be changed. */
export function namesIn(names: Names, directory: number): Map<string, number> {
  const own = names.get(directory) ?? new Map<string, number>();
  names.set(directory, own);
  return own;
}

/**
 * A disk that tells what is in the cache from what is durable: bytes once their file was synced, names once their
 * directory was. `cutPower` keeps what is durable, and of the rest what chance leaves: names in their order up to some
 * change, of a file that grew a part of what was appended, damaged at its end.
 */
export class CrashDisk {
  volume = new Volume();
  /** A machine that was started again is another host. */
  powerCuts = 0;
  #durableBytes = new Map<number, Buffer>();
  #durableNames: Names = new Map();
  #pending: NameChange[] = [];
  readonly #times = new Map<number, FileTimes>();
  /** By the inode of memfs, which gives others after a power cut: the one that the file has for good, and when it was made. */
  #identities = new Map<number, SimIdentity>();
  #nextInode = 1000;

  constructor() {
    this.volume.mkdirSync('/out', { recursive: true });
    this.volume.mkdirSync('/in');
    this.#syncAll('/');
  }

  inodeOf(path: string): number {
    return Number(this.volume.statSync(path).ino);
  }

  noteNames(directories: readonly string[], apply: (names: Names, inodes: readonly number[]) => void): void {
    const inodes = directories.map((path) => this.inodeOf(path));
    this.#pending.push({ directories: inodes, apply: (names) => apply(names, inodes) });
  }

  identityOf(inode: number): SimIdentity {
    const known = this.#identities.get(inode);
    if (known !== undefined) return known;
    // memfs gives the number of a file that is gone to another.
    return this.noteBorn(inode, 0);
  }

  noteBorn(inode: number, bornMs: number): SimIdentity {
    this.#nextInode += 1;
    const identity = { inode: this.#nextInode, bornMs };
    this.#identities.set(inode, identity);
    return identity;
  }

  noteModified(inode: number, atMs: number): void {
    this.#times.set(this.identityOf(inode).inode, { modifiedMs: atMs, changedMs: atMs });
  }

  /** Its name is another. */
  noteChanged(inode: number, atMs: number): void {
    this.#times.set(this.identityOf(inode).inode, { modifiedMs: this.timesOf(inode).modifiedMs, changedMs: atMs });
  }

  timesOf(inode: number): FileTimes {
    return this.#times.get(this.identityOf(inode).inode) ?? { modifiedMs: 0, changedMs: 0 };
  }

  syncFile(inode: number, content: Buffer): void {
    this.#durableBytes.set(inode, content);
  }

  syncDirectory(path: string): void {
    const inode = this.inodeOf(path);
    const isHere = ({ directories }: NameChange) => directories.includes(inode);
    for (const change of this.#pending) if (isHere(change)) change.apply(this.#durableNames);
    this.#pending = this.#pending.filter((change) => !isHere(change));
  }

  /** What a file would hold after a power cut at this moment, at the least. Undefined: its name would be gone. */
  readDurable(path: string): Buffer | undefined {
    let inode = this.inodeOf('/');
    for (const name of path.split('/').slice(1)) {
      const found = this.#durableNames.get(inode)?.get(name);
      if (found === undefined) return undefined;
      inode = found;
    }
    return this.#durableBytes.get(inode) ?? Buffer.alloc(0);
  }

  cutPower(random: Random): void {
    this.powerCuts += 1;
    const survivors = Math.floor(random() * (this.#pending.length + 1));
    for (const change of this.#pending.slice(0, survivors)) change.apply(this.#durableNames);
    this.#pending = [];
    const old = this.volume;
    const contents = this.#readAll(old, '/');
    const root = this.inodeOf('/');
    const names = this.#durableNames;
    this.volume = new Volume();
    const kept = this.#durableBytes;
    const identities = new Map<number, SimIdentity>();
    const restore = (inode: number, path: string): void => {
      for (const [name, child] of names.get(inode) ?? []) {
        const childPath = path === '/' ? `/${name}` : `${path}/${name}`;
        if (names.has(child)) {
          this.volume.mkdirSync(childPath, { recursive: true });
          restore(child, childPath);
        } else {
          const bytes = tear(kept.get(child) ?? Buffer.alloc(0), contents.get(child), random);
          this.volume.writeFileSync(childPath, bytes);
        }
        identities.set(this.inodeOf(childPath), this.identityOf(child));
      }
    };
    restore(root, '/');
    this.#identities = identities;
    this.#durableBytes = new Map();
    this.#durableNames = new Map();
    this.#syncAll('/');
  }

  #syncAll(path: string): void {
    const inode = this.inodeOf(path);
    const entries = new Map<string, number>();
    this.#durableNames.set(inode, entries);
    for (const name of this.volume.readdirSync(path).map(String)) {
      const child = path === '/' ? `/${name}` : `${path}/${name}`;
      entries.set(name, this.inodeOf(child));
      if (this.volume.statSync(child).isDirectory()) this.#syncAll(child);
      else this.#durableBytes.set(this.inodeOf(child), Buffer.from(this.volume.readFileSync(child) as Buffer));
    }
  }

  #readAll(volume: Volume, path: string, contents = new Map<number, Buffer>()): Map<number, Buffer> {
    for (const name of volume.readdirSync(path).map(String)) {
      const child = path === '/' ? `/${name}` : `${path}/${name}`;
      const stat = volume.statSync(child);
      if (stat.isDirectory()) this.#readAll(volume, child, contents);
      else contents.set(Number(stat.ino), Buffer.from(volume.readFileSync(child) as Buffer));
    }
    return contents;
  }
}

/** What is left of a file whose last bytes were not synced. */
function tear(durable: Buffer, cached: Buffer | undefined, random: Random): Buffer {
  if (cached === undefined || cached.equals(durable)) return durable;
  const hasGrown = cached.length > durable.length && cached.subarray(0, durable.length).equals(durable);
  if (!hasGrown) return random() < 0.5 ? durable : cached;
  // Often nothing of it had a place on the platter yet.
  if (random() < 0.3) return durable;
  const kept = durable.length + Math.floor(random() * (cached.length - durable.length + 1));
  const torn = Buffer.from(cached.subarray(0, kept));
  // A sector that was reserved and never written reads as zeros.
  if (random() < 0.3) torn.fill(0, Math.max(durable.length, kept - 40));
  return torn;
}
