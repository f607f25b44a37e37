import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { aWorkspace, type Workspace } from './a-workspace.js';
import { until } from './command.js';

const HAS_PROC = existsSync('/proc/self/status');
const MOST_GROWTH_KIB = 128 * 1024;
const SENDERS = 250;
const LARGE_BODY_BYTES = 128 * 1024;

async function aListenerUnderLoad(workspace: Workspace) {
  const running = workspace.start(['listen', '--port', '0', '--output', 'events.ndjson', '--json']);
  const { origin } = JSON.parse(await running.firstLine());
  const { port } = new URL(origin);
  return {
    /** Opens a connection and sends the text; gives the first line of the answer, or nothing where there was none. */
    send: (text: string) => {
      const socket = connect({ port: Number(port), host: '127.0.0.1' });
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
    /** The most that the process had so far, and what it has now. */
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

test.skipIf(!HAS_PROC)(
  'the memory of a listener stays within 128 MiB of what it began with, whatever many senders send',
  async () => {
    const { send, stop, memoryKib } = await aListenerUnderLoad(await aWorkspace());
    const before = memoryKib().now;
    // Bodies that never end, each almost there: they hold what they may.
    const begun = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${LARGE_BODY_BYTES}\r\n\r\n{"a":"`;
    const almost = begun + 'x'.repeat(LARGE_BODY_BYTES - 100);
    const unfinished = Array.from({ length: SENDERS }, () => send(almost));
    // Events as large as they may be, whose JSON takes many times their length.
    const deep = '['.repeat(65_000) + ']'.repeat(65_000);
    const answers = Array.from({ length: SENDERS }, async (_, index) => {
      const said: string[] = [];
      for (const round of [0, 1, 2]) said.push(await send(aDelivery(`{"${index}-${round}":${deep}}`)).answered);
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
    expect(await send(aDelivery('{"last":1}')).answered).toBe('HTTP/1.1 200 OK');
    expect((await stop()).busy).toBeGreaterThan(0);
  },
);
