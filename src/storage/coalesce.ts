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
