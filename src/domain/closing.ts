/** For `await using`: what is open is closed at the end of its block, however that ends. */
export function closing<T extends { close(): Promise<void> } | undefined>(open: T): T & (AsyncDisposable | undefined) {
  return open && Object.assign(open, { [Symbol.asyncDispose]: () => open.close() });
}

/** For `await using`: a file that is not finished at the end of its block is discarded. */
export function discarding<T extends { discard(): Promise<void> }>(file: T): T & AsyncDisposable {
  return Object.assign(file, { [Symbol.asyncDispose]: () => file.discard().catch(() => {}) });
}

/** What failed first: where something could not be closed either, that error hides it. */
export function firstFailure(thrown: unknown): unknown {
  return thrown instanceof Error && 'suppressed' in thrown ? firstFailure(thrown.suppressed) : thrown;
}
