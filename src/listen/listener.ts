import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InternalError, UserError } from '../domain/errors.js';
import { isLoopback, refuseAddress } from '../domain/loopback.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Files } from '../storage/files.js';
import { type ArrivedEvent, openEventFile, readEvent } from './event-file.js';
import {
  createCounts,
  createListenServer,
  HOOK,
  LISTEN_LIMITS,
  type ListenCounts,
  type ListenLimits,
  type TakeEvent,
} from './listen-server.js';

export interface ListenerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The event file, see event-file.ts; created if missing. No other listener may write to it. */
  readonly output: string;
  /** Without one the listener binds to loopback only. */
  readonly secret: string | undefined;
  /**
   * Makes an event durable in a file of its own; undefined: it has none that it can be written to, and goes to `output`. `assertHeld`: of the
   * lock of `output`, which is for those files too.
   */
  readonly divert?:
    | ((event: DivertedEvent, assertHeld: () => Promise<void>) => Promise<'written' | 'duplicate' | undefined>)
    | undefined;
  /** Called for each event before it is written; what it does is durable before the event is acknowledged, or it rejects. */
  readonly onArrived?: ((event: Pick<ArrivedEvent, 'message'>) => Promise<void>) | undefined;
  readonly limits?: Partial<ListenLimits>;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log;
  /** Takes the file for this process alone, or throws. */
  readonly lockOutput: () => Promise<OutputLock>;
}

export type DivertedEvent = Pick<ArrivedEvent, 'kind' | 'id' | 'messageId'> & { readonly line: Buffer };

export interface OutputLock {
  /** Asked before each write; throws when another process may have taken the file. */
  assertHeld(): Promise<void>;
  release(): Promise<void>;
}

export type Listener = Awaited<ReturnType<typeof startListener>>;

/**
 * Receives events and appends each one once to a file. A delivery is answered 2xx only when its event is durable.
 * Events in the file are recognized; a torn last line is cut off. Refuses to listen beyond loopback without a secret.
 */
export async function startListener(options: ListenerOptions) {
  const { secret, host } = options;
  if (secret === undefined && !isLoopback(host))
    throw new UserError(
      'unsafe-environment',
      `Cannot listen on ${host} without a secret: anyone who reaches it could write events, expected a secret or a loopback address`,
      { hint: 'Give one with --secret-env NAME or --secret-file PATH, or omit --host.' },
    );
  const lock = await options.lockOutput();
  try {
    return await openListener(options, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openListener(options: ListenerOptions, lock: OutputLock) {
  const { secret, files, clock, log } = options;
  const limits = { ...LISTEN_LIMITS, ...options.limits };
  const counts = createCounts();
  let state: 'open' | 'closing' | 'failed' = 'open';
  let fail: (error: Error) => void = () => {};
  const failed = new Promise<Error>((resolve) => {
    fail = (error) => {
      state = 'failed';
      resolve(error);
    };
  });
  const assertHeld = () => lock.assertHeld();
  const deps = { files, log, assertHeld };
  const file = await openEventFile(options.output, deps, (error) => fail(error));

  /** Reads a delivery and keeps its line as bytes, without what it was made of: many may wait for the disk. */
  const read = (...delivery: Parameters<TakeEvent>) => {
    const event = readEvent(...delivery, new Date(clock.now()).toISOString());
    return event && { ...event, line: Buffer.from(event.line) };
  };
  const take: TakeEvent = async (body, headers) => {
    const event = read(body, headers);
    if (event === undefined) {
      counts.bad += 1;
      return 'bad';
    }
    counts.received += 1;
    await options.onArrived?.(event);
    const outcome = (await options.divert?.(event, assertHeld)) ?? (await file.add(event.id, event.line));
    counts[outcome === 'written' ? 'written' : 'duplicates'] += 1;
    if (outcome === 'written' && event.kind === 'unknown') counts.unknown += 1;
    return outcome;
  };
  const server = createListenServer(secret, limits, take, { counts, state: () => state });
  const origin = await listen(server, options).catch(async (error) => {
    await file.close();
    throw error;
  });
  server.on('error', (error) => {
    fail(new InternalError('unexpected', `Cannot accept connections: ${error.message}`, error));
  });
  return {
    /** `http://127.0.0.1:8080` */
    origin,
    /** Where events are posted to, `<secret>` in the place of the secret. */
    path: secret === undefined ? '/' : `${HOOK}/<secret>`,
    counts: counts as Readonly<ListenCounts>,
    /**
     * Resolves with what ended the listener before its close, if anything does: a write, or its server. Later
     * deliveries are refused; one that was under way is acknowledged only if its event is durable.
     */
    failed,
    /**
     * Accepts no more, finishes pending deliveries, closes the file and releases its lock; throws what ended the writing,
     * if anything did.
     */
    close: async () => {
      if (state === 'open') state = 'closing';
      try {
        await drain(server, clock, limits.drainMs);
        await file.close();
      } finally {
        await lock.release();
      }
    },
  };
}

/** Connections that the system accepts before we do; above it, it lets senders wait for seconds. It may allow fewer. */
const BACKLOG = 4096;

async function listen(server: Server, { host, port }: ListenerOptions): Promise<string> {
  // The name may be an IPv6 address alone, where senders look for the other.
  server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port, backlog: BACKLOG });
  await once(server, 'listening').catch((error) => {
    throw refuseAddress(error, 'receive events');
  });
  const { address, family, port: taken } = server.address() as AddressInfo;
  if (address === '0.0.0.0') return `http://127.0.0.1:${taken}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`;
}

/** Waits for pending requests, up to a limit: an endless one would block the stop. */
async function drain(server: Server, clock: Clock, drainMs: number): Promise<void> {
  const drained = new AbortController();
  void clock.sleep(drainMs, drained.signal).then(() => server.closeAllConnections());
  await new Promise((resolve) => server.close(resolve));
  drained.abort();
}
