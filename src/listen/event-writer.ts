import { InternalError, UserError } from '../errors.js';
import type { AppendFile } from '../files.js';

export interface EventWriterDeps {
  readonly file: AppendFile;
  /** Asked before each write; throws when another process may have taken the file. */
  readonly assertHeld: () => Promise<void>;
  /** Called once, with what ended the writing. */
  readonly onFailure: (error: Error) => void;
}

/**
 * Appends lines with group commit: while one write and sync is under way, lines gather; the next sync takes them all.
 * `append` resolves once its line is durable. The first failure is final, as the disk's state is then unknown: what
 * waits and all that comes later is refused.
 */
export class EventWriter {
  readonly #deps: EventWriterDeps;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(deps: EventWriterDeps) {
    this.#deps = deps;
  }

  append(line: string): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  /** Waits for what is under way, then closes the file; throws what ended the writing, if anything did. */
  async close(): Promise<void> {
    await this.#flushing;
    const failure = this.#failure;
    this.#failure ??= new InternalError('write-failed', 'Cannot write an event: the file is closed');
    await this.#deps.file.close();
    if (failure !== undefined) throw failure;
  }

  async #flush(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#deps.assertHeld();
        await this.#deps.file.append(Buffer.from(group.map(({ line }) => line).join('')));
        await this.#deps.file.sync();
      } catch (cause) {
        this.#fail(group, cause);
        break;
      }
      for (const { resolve } of group) resolve();
    }
    this.#flushing = undefined;
  }

  #fail(group: readonly Waiting[], cause: unknown): void {
    const said = cause instanceof Error ? cause.message : String(cause);
    const failure =
      cause instanceof UserError
        ? cause
        : new InternalError(
            'write-failed',
            `Cannot write events: ${said}. What was not written was not acknowledged`,
            cause,
          );
    this.#failure = failure;
    this.#deps.onFailure(failure);
    for (const { reject } of [...group, ...this.#waiting]) reject(failure);
    this.#waiting = [];
  }
}

interface Waiting {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}
