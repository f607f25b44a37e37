/**
 * Shares a look at something among all that ask while one is under way: they get the next one, which begins after each of
 * them asked, so it tells them as much as one of their own. With many at once it costs a fraction.
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
