import { hash } from 'node:crypto';
import type { AppendFile, FileFacts, Files } from './files.js';
import { GroupCommit, type GroupWriter } from './group-commit.js';

/** How often a file is opened again: a person who saves a list replaces it once. */
const TRIES = 3;

interface OpenedFile {
  readonly file: AppendFile;
  /** Ids of the lines in it. */
  readonly known: KeySet;
  /** What comes before the next line: a line break ends one that is torn. */
  readonly before?: string;
}

interface AppendedLine {
  /** A line is appended once for each id; undefined: as often as it comes. */
  readonly id: string | undefined;
  readonly bytes: Uint8Array;
}

interface AppendOptions extends Pick<GroupWriter<AppendedLine>, 'describeFailure' | 'onFailure'> {
  readonly files: Pick<Files, 'stat'>;
  /** Begins the file if there is none, refuses what must not be appended to, and reads what it has. */
  readonly openFile: () => Promise<OpenedFile>;
  /** Asked before each write; throws where another process may have the file. */
  readonly assertHeld?: () => Promise<void>;
}

/**
 * Appends lines, each id once, to the file that a path names, for as long as a process runs. An editor, rsync or a restore puts another file
 * in its place, or somebody removes it: what is appended then to the one that is open would be in no file. So the path is looked at
 * behind each sync, and where it names another file, or one that was cut, that is opened, and appended to as well.
 */
export async function openAppendedFile(path: string, options: AppendOptions) {
  const { files, openFile, assertHeld } = options;
  let opened = await openFile();
  /** Lines that are not durable yet, by their ids. */
  const underWay = new Map<string, Promise<void>>();
  const isKnown = ({ id }: AppendedLine) => id !== undefined && opened.known.has(id);
  const write = async (lines: readonly AppendedLine[]) => {
    await assertHeld?.();
    for (let left = TRIES; ; left -= 1) {
      const { file, known, before = '' } = opened;
      // Each file lacks others.
      const lacking = lines.flatMap((line) => (isKnown(line) ? [] : [line.bytes]));
      await file.append(Buffer.concat([Buffer.from(before), ...lacking]));
      await file.sync();
      opened = { file, known };
      if (isAt(await files.stat(path), file)) return;
      if (left <= 1) throw new Error('another file is put in its place again and again');
      opened = await openFile();
      await file.close();
    }
  };
  const commit = new GroupCommit<AppendedLine>({ ...options, write });
  return {
    /** Resolves once the line is durable, now or since earlier, in the file that the path then names; rejects when it cannot be written. */
    async add(line: AppendedLine): Promise<'written' | 'duplicate'> {
      const { id } = line;
      const writing = id === undefined ? undefined : underWay.get(id);
      if (writing !== undefined || isKnown(line)) {
        await writing;
        return 'duplicate';
      }
      const appending = commit.add(line);
      if (id !== undefined) underWay.set(id, appending);
      try {
        await appending;
        if (id !== undefined) opened.known.add(id);
      } finally {
        if (id !== undefined) underWay.delete(id);
      }
      return 'written';
    },
    /** Waits for pending lines; what comes later is refused by `closed`. Resolves with what ended the writing before, if anything did. */
    async close(closed: Error): Promise<Error | undefined> {
      await commit.end(closed);
      await opened.file.close();
      const { failure } = commit;
      return failure === closed ? undefined : failure;
    },
  };
}

/** Whether a path still names the file that is open; other processes may have appended to it as well. */
function isAt(found: FileFacts | undefined, { inode, bytes }: AppendFile): boolean {
  return found !== undefined && found.inode === inode && found.bytes >= bytes;
}

const WORDS = 3;
const FIRST_SLOTS = 1 << 10;
/** Largest load factor: beyond it, probing gets slow. */
const FULLEST = 0.75;

/**
 * A set of ids, by 96 bits of their SHA-256: 16 to 32 bytes an id, however long it is. The chance of a collision among
 * 100 million ids is 1 in 10^13. (A `Set` takes 60 bytes and more an id, and ends at 16.7 million.)
 */
export class KeySet {
  #table = new Uint32Array(FIRST_SLOTS * WORDS);
  #size = 0;

  /** Size of the table that the ids stand in. */
  get bytes(): number {
    return this.#table.byteLength;
  }

  has(id: string): boolean {
    return isTaken(this.#table, findPlace(this.#table, digestWords(id)));
  }

  add(id: string): void {
    const words = digestWords(id);
    const place = findPlace(this.#table, words);
    if (isTaken(this.#table, place)) return;
    this.#table.set(words, place);
    this.#size += 1;
    if (this.#size * WORDS > this.#table.length * FULLEST) this.#grow();
  }

  #grow(): void {
    const larger = new Uint32Array(this.#table.length * 2);
    for (let place = 0; place < this.#table.length; place += WORDS) {
      if (!isTaken(this.#table, place)) continue;
      const words = this.#table.subarray(place, place + WORDS);
      larger.set(words, findPlace(larger, words));
    }
    this.#table = larger;
  }
}

function digestWords(id: string): Uint32Array {
  const digest = hash('sha256', id, 'buffer');
  // A first word of 0 marks a free place.
  return Uint32Array.of(digest.readUInt32LE(0) || 1, digest.readUInt32LE(4), digest.readUInt32LE(8));
}

/** The slot of the words, or the free one where they belong. The number of slots is a power of two. */
function findPlace(table: Uint32Array, words: Uint32Array): number {
  const first = words[0] ?? 0;
  const second = words[1] ?? 0;
  const third = words[2] ?? 0;
  let place = (second & (table.length / WORDS - 1)) * WORDS;
  while (isTaken(table, place)) {
    if (table[place] === first && table[place + 1] === second && table[place + 2] === third) return place;
    place = (place + WORDS) % table.length;
  }
  return place;
}

function isTaken(table: Uint32Array, place: number): boolean {
  return table[place] !== 0;
}
