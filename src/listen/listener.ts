import { dirname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { InternalError, UserError } from '../domain/errors.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { AppendFile, Files } from '../storage/files.js';
import { createDeliveryAuth, describePath } from './delivery-auth.js';
import { readEventFile } from './event-file.js';
import { EventWriter } from './event-writer.js';
import { createCounts, createIntake, type ListenCounts, type WrittenEvent } from './intake.js';
import { KeySet } from './key-set.js';
import { LISTEN_LIMITS, type ListenLimits } from './listen-limits.js';
import { createListenServer } from './listen-server.js';

export interface ListenerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The event file, see event-line.ts; created if missing. No other listener may write to it. */
  readonly output: string;
  /** Without one the listener binds to loopback only. */
  readonly secret: string | undefined;
  /** Called for each event once it is durable, in the file's order and before it is acknowledged; what it throws ends the listener. */
  readonly onWritten?: (event: WrittenEvent) => void;
  readonly limits?: Partial<ListenLimits>;
}

export interface ListenerDeps {
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log;
  /** Takes the file for this process alone, or throws. */
  readonly lockOutput?: () => Promise<OutputLock>;
}

export interface OutputLock {
  /** Asked before each write; throws when another process may have taken the file. */
  assertHeld(): Promise<void>;
  release(): Promise<void>;
}

export interface Listener {
  /** `http://127.0.0.1:8080` */
  readonly origin: string;
  /** Where events are posted to, `<secret>` in the place of the secret. */
  readonly path: string;
  readonly counts: Readonly<ListenCounts>;
  /** Resolves with what ended the listener before its close, if anything does; nothing is acknowledged afterwards. */
  readonly failed: Promise<Error>;
  /**
   * Accepts no more, finishes pending deliveries, closes the file and releases its lock; throws what ended the writing,
   * if anything did.
   */
  close(): Promise<void>;
}

/**
 * Receives events and appends each one once to a file. A delivery is answered 2xx only when its event is durable.
 * Events in the file are recognized; a torn last line is cut off. Refuses to listen beyond loopback without a secret.
 */
export async function startListener(options: ListenerOptions, deps: ListenerDeps): Promise<Listener> {
  if (options.secret === undefined) assertLoopback(options.host);
  const lock = await deps.lockOutput?.();
  const release = async () => lock?.release();
  try {
    return await openListener(options, deps, { assertHeld: async () => lock?.assertHeld(), release });
  } catch (error) {
    await release();
    throw error;
  }
}

async function openListener(options: ListenerOptions, deps: ListenerDeps, lock: OutputLock): Promise<Listener> {
  const { output, secret, onWritten = () => {} } = options;
  const { clock } = deps;
  const limits = { ...LISTEN_LIMITS, ...options.limits };
  const known = new KeySet();
  const file = await openEvents(output, known, deps);
  const counts = createCounts();

  let state: 'open' | 'closing' | 'failed' = 'open';
  let reportFailure: (error: Error) => void = () => {};
  const failed = new Promise<Error>((resolve) => {
    reportFailure = resolve;
  });
  const fail = (error: Error) => {
    state = 'failed';
    reportFailure(error);
  };
  const tell = (event: WrittenEvent) => {
    try {
      onWritten(event);
    } catch (error) {
      fail(error instanceof Error ? error : new InternalError('unexpected', String(error)));
    }
  };
  const writer = new EventWriter({ file, assertHeld: lock.assertHeld, onFailure: fail });
  const take = createIntake({ clock, writer, known, counts, onWritten: tell });
  const app = createListenServer({ door: createDeliveryAuth(secret), take, counts, limits, state: () => state });
  const end = async () => {
    if (state === 'open') state = 'closing';
    await drain(app, clock, limits.drainMs);
    await writer.close();
  };

  const origin = await listen(app, options).catch(async (error) => {
    await end();
    throw error;
  });
  let closing: Promise<void> | undefined;
  return {
    origin,
    path: describePath(secret),
    counts,
    failed,
    close: () => {
      closing ??= end().finally(lock.release);
      return closing;
    },
  };
}

/** Opens the file for appending, and learns the ids in it. */
async function openEvents(path: string, known: KeySet, { files, log }: ListenerDeps): Promise<AppendFile> {
  await files.makeDirectory(dirname(path));
  const { events, goodBytes, tornBytes } = await readEventFile(files, path, ({ id }) => known.add(id));
  const file = await files.openAppend(path);
  try {
    if (tornBytes > 0) {
      await file.truncate(goodBytes);
      log.warn(`cut off ${tornBytes} bytes of an incomplete event, which was never acknowledged`, { tornBytes });
    }
    // A killed listener may have written events without a sync; as known events they will be acknowledged.
    if (events > 0 || tornBytes > 0) await file.sync();
  } catch (error) {
    await file.close();
    throw error;
  }
  if (events > 0) log.info(`resumes a file of ${events} ${events === 1 ? 'event' : 'events'}`, { events });
  return file;
}

/** Connections that the system accepts before we do; above it, it lets senders wait for seconds. It may allow fewer. */
const BACKLOG = 4096;

async function listen(app: FastifyInstance, { host, port }: ListenerOptions): Promise<string> {
  try {
    return await app.listen({ host, port, backlog: BACKLOG });
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new UserError('bad-flag', `Cannot listen on ${host}:${port}: ${reason}, expected an address that is free`, {
      hint: 'Choose another --port, or 0 for any free one; --host must be an address of this machine.',
    });
  }
}

/** Waits for pending requests, up to a limit: an endless one would block the stop. */
async function drain(app: FastifyInstance, clock: Clock, drainMs: number): Promise<void> {
  const drained = new AbortController();
  const bounding = clock.sleep(drainMs, drained.signal).then(() => {
    if (!drained.signal.aborted) app.server.closeAllConnections();
  });
  await app.close();
  drained.abort();
  await bounding;
}

function assertLoopback(host: string): void {
  if (/^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host)) return;
  throw new UserError(
    'unsafe-environment',
    `Cannot listen on ${host} without a secret: anyone who reaches it could write events, expected a secret or a loopback address`,
    { hint: 'Give one with --secret-env NAME or --secret-file PATH, or omit --host.' },
  );
}
