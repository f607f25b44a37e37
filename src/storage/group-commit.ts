export interface GroupWriter<Item> {
  /** Writes a group, in order, and makes it durable. */
  readonly write: (group: readonly Item[]) => Promise<void>;
  /** The error for a failed write, for all pending and later calls. */
  readonly describeFailure: (cause: unknown) => Error;
  /** Is called once, with the error of `describeFailure`. */
  readonly onFailure?: (failure: Error) => void;
}

/**
 * While one write and sync is under way, items gather; the next one takes them all. The first failure is final: the
 * disk's state is then unknown, so nothing is retried (a repeated fsync may report success without having written).
 */
export class GroupCommit<Item> {
  readonly #writer: GroupWriter<Item>;
  #waiting: Waiting<Item>[] = [];
  #flushing: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(writer: GroupWriter<Item>) {
    this.#writer = writer;
  }

  /** What ended the writing; undefined while it works. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Resolves once the item is durable. */
  add(item: Item): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  /** Waits for pending writes; then no more items are accepted, and `failure` says why. */
  async end(failure: Error): Promise<void> {
    await this.#flushing;
    this.#failure ??= failure;
  }

  async #flush(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#writer.write(group.map(({ item }) => item));
      } catch (cause) {
        const failure = this.#writer.describeFailure(cause);
        this.#failure = failure;
        this.#writer.onFailure?.(failure);
        for (const { reject } of [...group, ...this.#waiting]) reject(failure);
        this.#waiting = [];
        break;
      }
      for (const { resolve } of group) resolve();
    }
    this.#flushing = undefined;
  }
}

interface Waiting<Item> {
  readonly item: Item;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * Coalesces concurrent checks: callers that arrive while one is running share the next one, which begins after each of
 * them called, so it is as good as a check of their own.
 */
export function coalesce(look: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = () => {
    next = undefined;
    running = look().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (running === undefined) return start();
    next ??= running.then(start, start);
    return next;
  };
}
