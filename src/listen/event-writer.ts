import { InternalError, UserError } from '../domain/errors.js';
import type { AppendFile } from '../storage/files.js';
import { GroupCommit } from '../storage/group-commit.js';

export interface EventWriterDeps {
  readonly file: AppendFile;
  /** Asked before each write; throws when another process may have taken the file. */
  readonly assertHeld: () => Promise<void>;
  /** Called once, with what ended the writing. */
  readonly onFailure: (error: Error) => void;
}

/** Appends lines with group commit. `append` resolves once its line is durable; after a failure every line is refused. */
export class EventWriter {
  readonly #file: AppendFile;
  readonly #commit: GroupCommit<Uint8Array>;

  constructor({ file, assertHeld, onFailure }: EventWriterDeps) {
    this.#file = file;
    const write = async (lines: readonly Uint8Array[]) => {
      await assertHeld();
      await file.append(Buffer.concat(lines));
      await file.sync();
    };
    this.#commit = new GroupCommit({ write, describeFailure, onFailure });
  }

  append(line: Uint8Array): Promise<void> {
    return this.#commit.add(line);
  }

  /** Waits for pending writes, then closes the file; throws what ended the writing, if anything did. */
  async close(): Promise<void> {
    const closed = new InternalError('write-failed', 'Cannot write an event: the file is closed');
    await this.#commit.end(closed);
    await this.#file.close();
    const { failure } = this.#commit;
    if (failure !== closed) throw failure;
  }
}

function describeFailure(cause: unknown): Error {
  if (cause instanceof UserError) return cause;
  const said = cause instanceof Error ? cause.message : String(cause);
  return new InternalError(
    'write-failed',
    `Cannot write events: ${said}. What was not written was not acknowledged`,
    cause,
  );
}
