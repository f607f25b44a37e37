import { dirname } from 'node:path';
import { InternalError, UserError } from '../domain/errors.js';
import { decodeOptOut, encodeOptOut, OPT_OUT_HEADER, type OptOut, personOf } from '../domain/person.js';
import { KeySet, PathAppender } from '../storage/appended-file.js';
import type { AppendFile, Files } from '../storage/files.js';
import { GroupCommit } from '../storage/group-commit.js';
import { splitLines } from '../storage/split-lines.js';

const LINE_BREAK = 0x0a;

interface NewLine {
  readonly by: string;
  readonly bytes: Buffer;
}

interface ListOptions {
  readonly files: Files;
  readonly onFailure?: (error: Error) => void;
  /** Another file is in the place of the list, and names `lost` people no more who opted out. */
  readonly onReplaced?: (lost: number) => void;
}

/**
 * A list of opt-outs (person.ts), to append to. Several processes may append to it: each line is one write at the end of the
 * file, and none is ever changed or cut off. A line of an event, by `listen:` and its id, is appended once.
 */
export class OptOutFile {
  readonly #path: string;
  readonly #deps: ListOptions;
  readonly #file: PathAppender;
  readonly #commit: GroupCommit<NewLine>;
  readonly #underWay = new Map<string, Promise<void>>();
  #known = new KeySet();
  /** When a person last opted out. */
  #outAt = new Map<number, string>();
  /** Ends a torn line that was never acknowledged: it stays, and plans are refused until a person has looked. */
  #before = '';

  /** Begins the file if there is none. Refuses any other file: every number in such a list is out, whatever is appended. */
  static async open(path: string, deps: ListOptions): Promise<OptOutFile> {
    const list = new OptOutFile(path, deps);
    await list.#file.open();
    return list;
  }

  private constructor(path: string, deps: ListOptions) {
    const { files, onFailure } = deps;
    this.#path = path;
    this.#deps = deps;
    this.#file = new PathAppender(path, { files, openFile: () => this.#openFile() });
    const write = async (lines: readonly NewLine[]) => {
      await this.#file.append(() => {
        const lacking = lines.filter(({ by }) => !this.#known.has(by));
        return Buffer.concat([Buffer.from(this.#before), ...lacking.map(({ bytes }) => bytes)]);
      });
      this.#before = '';
    };
    const describeFailure = (cause: unknown) => {
      const said = cause instanceof Error ? cause.message : String(cause);
      return new InternalError('write-failed', `Cannot write opt-outs to ${path}: ${said}`, cause);
    };
    this.#commit = new GroupCommit({ write, describeFailure, ...(onFailure === undefined ? {} : { onFailure }) });
  }

  async #openFile(): Promise<AppendFile> {
    const { files, onReplaced } = this.#deps;
    // Jobs read by its name what is in it.
    if (OF_OTHER_FORMAT.test(this.#path)) throw refuseList(this.#path);
    await files.makeDirectory(dirname(this.#path));
    await files.createExclusive(this.#path, OPT_OUT_HEADER);
    const { known, outAt, isTorn } = await readList(this.#path, files);
    const file = await files.openAppend(this.#path);
    if (file.bytes === 0) await file.append(Buffer.from(OPT_OUT_HEADER));
    // A killed process may have written lines without a sync; as known ones they will be acknowledged.
    await file.sync();
    const lost = [...this.#outAt.keys()].filter((person) => !outAt.has(person)).length;
    if (lost > 0) onReplaced?.(lost);
    this.#known = known;
    this.#outAt = outAt;
    this.#before = isTorn ? '\n' : '';
    return file;
  }

  /**
   * Resolves once the line is durable, now or since earlier; rejects when it cannot be written. A message by which a person opts in
   * counts for nothing where they opted out after it: it may be delivered late.
   */
  async add(optOut: OptOut): Promise<'written' | 'known'> {
    const { by, what } = optOut;
    const person = personOf(Number(optOut.number));
    const outAt = this.#outAt.get(person) ?? '';
    // A person's word counts now, also where the clock that the last line goes by was ahead.
    const at = what === 'in' && !isOfEvent(by) && outAt > optOut.at ? outAt : optOut.at;
    if (isOfEvent(by)) {
      const writing = this.#underWay.get(by);
      await writing;
      if (writing !== undefined || this.#known.has(by)) return 'known';
      if (what === 'in' && outAt > at) return 'known';
    }
    const appending = this.#commit.add({ by, bytes: Buffer.from(encodeOptOut({ ...optOut, at })) });
    this.#underWay.set(by, appending);
    try {
      await appending;
      if (isOfEvent(by)) this.#known.add(by);
      if (what === 'out') this.#outAt.set(person, at);
    } finally {
      this.#underWay.delete(by);
    }
    return 'written';
  }

  async close(): Promise<void> {
    await this.#commit.end(new InternalError('write-failed', 'Cannot write an opt-out: the file is closed'));
    await this.#file.close();
  }
}

const OF_EVENT = 'listen:';

/** Who decided, where a message did; the id in it has no character that a cell may not have. */
export function namedByEvent(id: string): string {
  return `${OF_EVENT}${id}`;
}

function isOfEvent(by: string): boolean {
  return by.startsWith(OF_EVENT);
}

async function readList(path: string, files: Files) {
  const known = new KeySet();
  const outAt = new Map<number, string>();
  const file = await files.openRead(path);
  try {
    // An empty file is one that a person made, or whose process died before it wrote the header.
    if (file.bytes === 0) return { known, outAt, isTorn: false };
    const header = await file.read(0, OPT_OUT_HEADER.length);
    if (header.toString() !== OPT_OUT_HEADER) throw refuseList(path);
    const end = await file.read(file.bytes - 1, 1);
    for await (const { bytes } of splitLines(file)) {
      const line = decodeOptOut(bytes.toString('utf8'));
      if (line?.what === 'out') outAt.set(personOf(Number(line.number)), line.at);
      if (line !== undefined && isOfEvent(line.by)) known.add(line.by);
    }
    return { known, outAt, isTorn: end[0] !== LINE_BREAK };
  } finally {
    await file.close();
  }
}

const OF_OTHER_FORMAT = /\.(?:xlsx|xlsm|ndjson|jsonl?|gz)$/i;

function refuseList(path: string): UserError {
  const expected = `expected a CSV that begins with ${OPT_OUT_HEADER.trim()}, or none yet`;
  return new UserError('bad-input', `Cannot append to ${path}: it is not a list that Volley writes, ${expected}`, {
    hint: 'Name another file. `optOuts` of a job may be a directory, in which both lists count.',
  });
}
