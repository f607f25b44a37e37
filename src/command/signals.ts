import { once } from 'node:events';
import { UserError } from '../domain/errors.js';
import type { LogFields } from '../ports/log.js';
import { EXIT } from '../report/exit-code.js';
import type { Context } from './context.js';
import { describeFailure } from './failure.js';

/** Does a task that a first signal only tells of; a second one ends the process. */
async function onFirstSignal<T>({ terminal, log }: Context, tell: (name: string) => void, task: () => Promise<T>) {
  let isFirst = true;
  const off = terminal.onSignal((name) => {
    if (!isFirst) {
      log.error(`${name} again: stops at once with exit code 75, without waiting for what is in flight`, LEFT);
      const message = `Cannot finish: ${name} came a second time, and volley did not wait for what was in flight`;
      const hint = 'Run the same command to resume. What was in flight may then be in doubt.';
      terminal.leave(describeFailure(new UserError('interrupted', message, { hint })));
    }
    isFirst = false;
    tell(name);
  });
  return task().finally(off);
}

/** How long reading and planning may take to end after a signal. */
const GIVE_UP_MS = 500;

/**
 * Runs a task that sends nothing and checks the stop switch between two reads. A read may never end (a hanging disk): then the task is
 * abandoned with UserError 'interrupted', and its later results are ignored. `doing` completes "Cannot …".
 */
export async function endSoon<T>({ stop, env }: Context, doing: string, task: () => Promise<T>): Promise<T> {
  const ended = new AbortController();
  const givenUp = new Promise<never>((_, reject) => {
    const giveUp = async () => {
      await env.clock.sleep(GIVE_UP_MS, ended.signal);
      const hint = 'Nothing was sent. Run the same command again.';
      reject(new UserError('interrupted', `Cannot ${doing}: it was interrupted while a file was read`, { hint }));
    };
    if (stop.isRequested) void giveUp();
    else stop.nothingNew.addEventListener('abort', giveUp, { once: true, signal: ended.signal });
  });
  const running = task();
  for (const each of [running, givenUp]) each.catch(() => {});
  try {
    return await Promise.race([running, givenUp]);
  } finally {
    ended.abort();
  }
}

/** Does a task that sends nothing: a first signal stops it, a second one leaves at once. */
export function endOnSignal<T>(context: Context, task: () => Promise<T>): Promise<T> {
  return onFirstSignal(context, (name) => context.stop.request('interrupted', name), task);
}

/** Waits for the signal, which may have come before. */
export async function untilSignal({ stop }: Pick<Context, 'stop'>): Promise<undefined> {
  if (!stop.isRequested) await once(stop.nothingNew, 'abort');
}

/** How long requests in flight are awaited after a first signal. A pod's grace period must be longer. */
export const DRAIN_MS = 30_000;

const LEFT: LogFields = { event: 'end', exitCode: EXIT.again, reason: 'interrupted' };

/** Does a task that sends: on a first signal nothing new is sent, and what is in flight is awaited; a second one leaves at once. */
export function drainOnSignal<T>(context: Context, task: () => Promise<T>): Promise<T> {
  const { log, stop, env } = context;
  const ended = new AbortController();
  const drain = (name: string) => {
    log.warn(`${name}: nothing new is sent; waiting for what is in flight (again: stop at once)`);
    stop.request('interrupted', name);
    void env.clock.sleep(DRAIN_MS, ended.signal).then(() => stop.abandon());
  };
  return onFirstSignal(context, drain, task).finally(() => ended.abort());
}
