import { connect, type Socket } from 'node:net';
import { Agent, request } from 'undici';
import { onTestFinished } from 'vitest';
import type { StoredEvent } from '../../src/listen/event-file.js';
import { type ListenerOptions, startListener } from '../../src/listen/listener.js';
import type { AppendFile } from '../../src/storage/files.js';
import { FakeClock } from '../run/fake-clock.js';
import { aMemoryDisk, type MemoryDisk } from '../storage/a-memory-disk.js';

export const OUTPUT = '/out/events.ndjson';

type Posted = Readonly<{ path?: string; headers?: Record<string, string>; method?: 'GET' | 'POST' | 'PUT' }>;
type Options = Partial<ListenerOptions> & { readonly disk?: MemoryDisk };

/** A listener on loopback that writes to a disk in memory; closed when the test is over. */
export async function aListener({ disk = aMemoryDisk(), files = disk.files, ...options }: Options = {}) {
  const clock = new FakeClock();
  /** One line each. */
  const said: string[] = [];
  const say = (level: string) => (message: string) => void said.push(`${level}: ${message}`);
  const log = { info: say('info'), warn: say('warn'), error: say('error') };
  const listener = await startListener({
    host: '127.0.0.1',
    port: 0,
    output: OUTPUT,
    secret: undefined,
    lockOutput: async () => ({ assertHeld: async () => {}, release: async () => {} }),
    files,
    clock,
    log,
    ...options,
  });
  const agent = new Agent();
  onTestFinished(async () => {
    await agent.destroy();
    await listener.close().catch(() => {});
  });
  const { port } = new URL(listener.origin);
  return {
    ...listener,
    ...{ disk, clock, said },
    events: () => eventsIn(disk.readText(OUTPUT)),
    /** Posts JSON, or text and bytes as they are; gives status and words of the answer. */
    post: async (
      body: unknown,
      { path = '/', headers = {}, method = 'POST' }: Posted = {},
    ): Promise<[number, string]> => {
      const isRaw = typeof body === 'string' || body instanceof Uint8Array;
      const answer = await request(listener.origin + path, {
        method,
        dispatcher: agent,
        headers,
        body: method === 'GET' ? null : isRaw ? body : JSON.stringify(body),
      });
      const { status } = (await answer.body.json()) as { status: string };
      return [answer.statusCode, status];
    },
    /** A connection that says what it is given, and nothing more. */
    dial: (text: string) => dial(Number(port), text),
  };
}

/** Of whole lines. */
export function eventsIn(text: string): StoredEvent[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

function dial(port: number, text: string) {
  const socket = connect({ port, host: '127.0.0.1' });
  let answered = '';
  socket.setEncoding('utf8').on('data', (more) => {
    answered += more;
  });
  // A reset is an end too.
  socket.on('error', () => {});
  /** All that was answered, once the other side has closed. */
  const ended = new Promise<string>((resolve) => socket.on('close', () => resolve(answered)));
  onTestFinished(() => void socket.destroy());
  return new Promise<{ socket: Socket; ended: typeof ended }>((resolve) =>
    socket.write(text, () => resolve({ socket, ended })),
  );
}

/** A listener whose syncs of the event file end when the test ends them. */
export async function aHeldListener(options: Options = {}) {
  const disk = options.disk ?? aMemoryDisk();
  /** Appends and syncs, in order. */
  const trace: string[] = [];
  let [asked, ending] = [aSignal(), aSignal()];
  const hold = (file: AppendFile): AppendFile => ({
    ...file,
    append: async (chunk) => {
      trace.push(`append ${Buffer.from(chunk).toString().split('\n').length - 1}`);
      await file.append(chunk);
    },
    sync: async () => {
      trace.push('sync');
      const { promise } = ending;
      asked.resolve();
      await promise;
      trace.push('synced');
    },
  });
  const openAppend = async (path: string) => hold(await disk.files.openAppend(path));
  const listener = await aListener({ ...options, disk, files: { ...disk.files, openAppend } });
  return {
    ...listener,
    trace,
    /** Resolves when a sync is under way. */
    syncAsked: () => asked.promise,
    /** Ends the sync that is under way, or comes next. */
    endSync: async (error?: Error) => {
      await asked.promise;
      const ended = ending;
      [asked, ending] = [aSignal(), aSignal()];
      if (error === undefined) ended.resolve();
      else ended.reject(error);
    },
  };
}

function aSignal() {
  let resolve = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  return { promise, resolve, reject };
}
