import { dirname } from 'node:path';
import { InternalError, UserError } from '../domain/errors.js';
import { decodeOptOut, encodeOptOut, OPT_OUT_HEADER, type OptOut } from '../domain/opt-out-line.js';
import type { AppendFile, Files } from '../storage/files.js';
import { GroupCommit } from '../storage/group-commit.js';
import { splitLines } from '../storage/split-lines.js';
import { KeySet } from './key-set.js';

const LINE_BREAK = 0x0a;

/**
 * A list of opt-outs (opt-out-line.ts), to append to. Several processes may append to it: each line is one write at the end of the
 * file, and none is ever changed or cut off. A line of an event, by `listen:` and its id, is appended once.
 */
export class OptOutFile {
  readonly #file: AppendFile;
  readonly #known: KeySet;
  readonly #commit: GroupCommit<Buffer>;
  readonly #underWay = new Map<string, Promise<void>>();
  /** When a number last opted out. */
  readonly #outAt: Map<string, string>;

  /** Begins the file if there is none. Refuses any other file: every number in such a list is out, whatever is appended. */
  static async open(
    path: string,
    { files, onFailure }: { files: Files; onFailure?: (error: Error) => void },
  ): Promise<OptOutFile> {
    await files.makeDirectory(dirname(path));
    await files.createExclusive(path, OPT_OUT_HEADER);
    const read = await readList(path, files);
    const file = await files.openAppend(path);
    // A killed process may have written lines without a sync; as known ones they will be acknowledged.
    await file.sync();
    return new OptOutFile(path, { file, ...read, onFailure });
  }

  private constructor(
    path: string,
    {
      file,
      known,
      outAt,
      isTorn,
      onFailure,
    }: Awaited<ReturnType<typeof readList>> & { file: AppendFile; onFailure: ((error: Error) => void) | undefined },
  ) {
    this.#outAt = outAt;
    this.#file = file;
    this.#known = known;
    // Behind a piece of a line that was never acknowledged: it stays, and plans are refused until a person has looked.
    let before = isTorn ? '\n' : '';
    const write = async (lines: readonly Buffer[]) => {
      await file.append(Buffer.concat([Buffer.from(before), ...lines]));
      before = '';
      await file.sync();
    };
    const describeFailure = (cause: unknown) => {
      const said = cause instanceof Error ? cause.message : String(cause);
      return new InternalError('write-failed', `Cannot write opt-outs to ${path}: ${said}`, cause);
    };
    this.#commit = new GroupCommit({ write, describeFailure, ...(onFailure === undefined ? {} : { onFailure }) });
  }

  /**
   * Resolves once the line is durable, now or since earlier; rejects when it cannot be written. A message by which a person opts in
   * counts for nothing where they opted out after it: it may be delivered late.
   */
  async add(optOut: OptOut): Promise<'written' | 'known'> {
    const { by, number, what } = optOut;
    const outAt = this.#outAt.get(number) ?? '';
    // A person's word counts now, also where the clock that the last line goes by was ahead.
    const at = what === 'in' && !isOfEvent(by) && outAt > optOut.at ? outAt : optOut.at;
    if (isOfEvent(by)) {
      const writing = this.#underWay.get(by);
      await writing;
      if (writing !== undefined || this.#known.has(by)) return 'known';
      if (what === 'in' && outAt > at) return 'known';
    }
    if (what === 'out') this.#outAt.set(number, at);
    const appending = this.#commit.add(Buffer.from(encodeOptOut({ ...optOut, at })));
    this.#underWay.set(by, appending);
    try {
      await appending;
      this.#known.add(by);
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
  const outAt = new Map<string, string>();
  const file = await files.openRead(path);
  try {
    const header = await file.read(0, OPT_OUT_HEADER.length);
    if (header.toString() !== OPT_OUT_HEADER) throw refuseList(path);
    const end = await file.read(file.bytes - 1, 1);
    for await (const { bytes } of splitLines(file)) {
      const line = decodeOptOut(bytes.toString('utf8'));
      if (line?.what === 'out') outAt.set(line.number, line.at);
      if (line !== undefined && isOfEvent(line.by)) known.add(line.by);
    }
    return { known, outAt, isTorn: end[0] !== LINE_BREAK };
  } finally {
    await file.close();
  }
}

function refuseList(path: string): UserError {
  const expected = `expected one that begins with ${OPT_OUT_HEADER.trim()}, or none yet`;
  return new UserError('bad-input', `Cannot append to ${path}: it is not a list that Volley writes, ${expected}`, {
    hint: 'Name another file. `optOuts` of a job may be a directory, in which both lists count.',
  });
}
