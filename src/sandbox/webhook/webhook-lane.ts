/** What is POSTed once. */
export interface Post {
  /** Beside content-type. */
  readonly headers: Readonly<Record<string, string>>;
  /** Becomes JSON. */
  readonly body: unknown;
}

/**
 * POSTs to one address of which each leaves only when the one before was answered 2xx, or given up.
 * It builds them at the moment at which they leave, so that what waits takes little room. The sender counts how many it has.
 */
export interface WebhookLane {
  readonly url: string;
  /** The POST whose turn it is, the same for every attempt but for what counts attempts; the first attempt is 0. */
  build(attempt: number): Post;
  /** Milliseconds before the attempt of that number, from 1; undefined = the POST is given up. */
  retryDelayMs(attempt: number): number | undefined;
  /** The POST whose turn it was is over. */
  advance(): void;
}
