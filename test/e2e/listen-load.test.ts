import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { aWorkspace, type Workspace } from './a-workspace.js';
import { until } from './command.js';

const HAS_PROC = existsSync('/proc/self/status');
const SLOW_CONNECTIONS = 3000;
const MOST_GROWTH_KIB = 128 * 1024;
/** Linux answers at all of 127.0.0.0/8; a sender may choose any of them as its own. */
const ADDRESSES = Array.from({ length: 250 }, (_, index) => `127.0.1.${index + 1}`);
const LARGE_BODY_BYTES = 128 * 1024;

interface Sender {
  /** Opens a connection and sends the text; gives the first line of the answer, or nothing where there was none. */
  readonly send: (text: string, from: string) => { socket: Socket; answered: Promise<string> };
  readonly stop: () => Promise<Record<string, unknown>>;
  /** Most memory that the process had so far, and has now. */
  readonly memoryKib: () => { most: number; now: number };
}

async function aListenerUnderLoad(workspace: Workspace, ...flags: string[]): Promise<Sender> {
  const running = workspace.start(['listen', '--port', '0', '--output', 'events.ndjson', '--json', ...flags]);
  const { origin } = JSON.parse(await running.firstLine());
  const { port } = new URL(origin);
  return {
    send: (text, localAddress) => {
      const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress });
      let answer = '';
      socket.setEncoding('utf8').on('data', (more) => {
        answer += more;
      });
      socket.on('error', () => {});
      const answered = new Promise<string>((resolve) =>
        socket.on('close', () => resolve(answer.split('\r\n', 1)[0] ?? '')),
      );
      onTestFinished(() => void socket.destroy());
      socket.write(text);
      return { socket, answered };
    },
    stop: async () => {
      running.signal('SIGTERM');
      const { code, stdout, stderr } = await running.ended;
      expect([code, stderr]).toEqual([0, expect.any(String)]);
      return JSON.parse(stdout.split('\n')[1] ?? '');
    },
    memoryKib: () => {
      const status = readFileSync(`/proc/${running.pid}/status`, 'utf8');
      const read = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]);
      return { most: read('VmHWM'), now: read('VmRSS') };
    },
  };
}

function aDelivery(body: string): string {
  return `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

const isClosed = ({ socket }: { socket: Socket }) => socket.closed;

test(`${SLOW_CONNECTIONS} slow connections of one address keep no other address from delivering`, async () => {
  const { send, stop } = await aListenerUnderLoad(await aWorkspace());
  const slow = Array.from({ length: SLOW_CONNECTIONS }, () =>
    send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{', '127.0.0.1'),
  );
  const answers = ['1', '2', '3'].map((id) => send(aDelivery(`{"id":${id}}`), '127.0.0.2').answered);
  expect(await Promise.all(answers)).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK', 'HTTP/1.1 200 OK']);
  // All above its share.
  await until(() => slow.filter(isClosed).length >= SLOW_CONNECTIONS - 256);
  expect(await send(aDelivery('{"id":4}'), '127.0.0.2').answered).toBe('HTTP/1.1 200 OK');
  for (const { socket } of slow) socket.destroy();
  const told = await stop();
  expect(told).toMatchObject({ written: 4, busy: 0 });
  expect(told.dropped).toBeGreaterThanOrEqual(SLOW_CONNECTIONS - 256);
});

test('behind a proxy one address may have as many connections as all, and no more', async () => {
  const { send, stop } = await aListenerUnderLoad(await aWorkspace(), '--behind-proxy');
  const many = Array.from({ length: 1100 }, () => send('', '127.0.0.1'));
  await until(() => many.filter(isClosed).length === 1100 - 1024);
  for (const { socket } of many) socket.destroy();
  expect(await stop()).toMatchObject({ dropped: 1100 - 1024 });
});

test.skipIf(!HAS_PROC)(
  'the memory of a listener stays within 128 MiB of what it began with, whatever many addresses send',
  async () => {
    const { send, stop, memoryKib } = await aListenerUnderLoad(await aWorkspace());
    const before = memoryKib().now;
    // Bodies that never end, each almost there: they hold what they may.
    const begun = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${LARGE_BODY_BYTES}\r\n\r\n{"a":"`;
    const almost = begun + 'x'.repeat(LARGE_BODY_BYTES - 100);
    const unfinished = ADDRESSES.map((address) => send(almost, address));
    // Events as large as they may be, whose JSON takes many times their length.
    const deep = '['.repeat(65_000) + ']'.repeat(65_000);
    const answers = ADDRESSES.map(async (address, index) => {
      const said: string[] = [];
      for (const round of [0, 1, 2])
        said.push(await send(aDelivery(`{"${index}-${round}":${deep}}`), address).answered);
      return said;
    });
    const said = new Set((await Promise.all(answers)).flat());
    expect(memoryKib().most - before).toBeLessThan(MOST_GROWTH_KIB);
    for (const { socket } of unfinished) socket.destroy();
    // Closed without an answer only where a refused sender did not wait to read it.
    expect(
      [...said].filter((line) => !['', 'HTTP/1.1 200 OK', 'HTTP/1.1 503 Service Unavailable'].includes(line)),
    ).toEqual([]);
    await until(() => unfinished.every(isClosed));
    const last = send(aDelivery('{"last":1}'), '127.0.0.2');
    expect(await last.answered).toBe('HTTP/1.1 200 OK');
    const told = await stop();
    expect(told.busy).toBeGreaterThan(0);
  },
);
