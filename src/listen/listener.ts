import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { InternalError, UserError } from '../domain/errors.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { AppendFile, Files } from '../storage/files.js';
import { createEventWriter, readEventFile } from './event-file.js';
import { createCounts, createIntake, type ListenCounts, type WrittenEvent } from './intake.js';
import { KeySet } from './key-set.js';
import { createListenServer, describePath, LISTEN_LIMITS, type ListenLimits } from './listen-server.js';

export interface ListenerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The event file, see event-file.ts; created if missing. No other listener may write to it. */
  readonly output: string;
  /** Without one the listener binds to loopback only. */
  readonly secret: string | undefined;
  /** Called for each event once it is durable, in the file's order and before it is acknowledged; what it throws ends the listener. */
  readonly onWritten?: (event: WrittenEvent) => void;
  readonly limits?: Partial<ListenLimits>;
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
  /**
   * Resolves with what ended the listener before its close, if anything does: a write, its server, or `onWritten`. Later
   * deliveries are refused; one that was under way is acknowledged only if its event is durable.
   */
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
export async function startListener(options: ListenerOptions): Promise<Listener> {
  if (options.secret === undefined) assertLoopback(options.host);
  const lock = await options.lockOutput?.();
  const release = async () => lock?.release();
  try {
    return await openListener(options, { assertHeld: async () => lock?.assertHeld(), release });
  } catch (error) {
    await release();
    throw error;
  }
}

async function openListener(options: ListenerOptions, lock: OutputLock): Promise<Listener> {
  const { secret, clock, onWritten = () => {} } = options;
  const limits = { ...LISTEN_LIMITS, ...options.limits };
  const known = new KeySet();
  const file = await openEvents(options, known);
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
  const writer = createEventWriter(file, lock.assertHeld, fail);
  const take = createIntake(writer, known, counts, {
    now: () => clock.now(),
    onWritten: (event) => {
      try {
        onWritten(event);
      } catch (error) {
        fail(error instanceof Error ? error : new InternalError('unexpected', String(error)));
      }
    },
  });
  const server = createListenServer(secret, limits, take, { counts, state: () => state });
  const end = async () => {
    if (state === 'open') state = 'closing';
    await drain(server, clock, limits.drainMs);
    await writer.close();
  };

  const origin = await listen(server, options).catch(async (error) => {
    await end();
    throw error;
  });
  server.on('error', (error) => {
    fail(new InternalError('unexpected', `Cannot accept connections: ${error.message}`, error));
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
async function openEvents({ output: path, files, log }: ListenerOptions, known: KeySet): Promise<AppendFile> {
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

async function listen(server: Server, { host, port }: ListenerOptions): Promise<string> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // The name may be an IPv6 address alone, where senders look for the other.
      server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port, backlog: BACKLOG }, resolve);
    }).finally(() => server.removeAllListeners('error'));
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new UserError('bad-flag', `Cannot listen on ${host}:${port}: ${reason}, expected an address that is free`, {
      hint: 'Choose another --port, or 0 for any free one; --host must be an address of this machine.',
    });
  }
  const { address, family, port: taken } = server.address() as AddressInfo;
  if (address === '0.0.0.0') return `http://127.0.0.1:${taken}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`;
}

/** Waits for pending requests, up to a limit: an endless one would block the stop. */
async function drain(server: Server, clock: Clock, drainMs: number): Promise<void> {
  const drained = new AbortController();
  const bounding = clock.sleep(drainMs, drained.signal).then(() => {
    if (!drained.signal.aborted) server.closeAllConnections();
  });
  await new Promise((resolve) => server.close(resolve));
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
