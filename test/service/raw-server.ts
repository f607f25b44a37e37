import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';
import { SELF_SIGNED } from './self-signed.js';

export interface RawBehaviour {
  readonly onConnection?: (socket: Socket) => void;
  /** Once for each whole request, with its number from 1. */
  readonly onRequest?: (socket: Socket, number: number) => void;
  readonly isTls?: boolean;
}

/** A server on loopback that speaks no HTTP of its own, until the test is finished: that says what happens on the wire. */
export async function aRawServer({ onConnection, onRequest, isTls = false }: RawBehaviour) {
  const sockets = new Set<Socket>();
  /** Those that arrived whole. */
  const requests: Buffer[] = [];
  /** All that arrived. */
  let bytes = 0;
  const listen = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    let rest: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      rest = Buffer.concat([rest, chunk]);
      for (let length = lengthOfRequest(rest); length !== undefined; length = lengthOfRequest(rest)) {
        requests.push(rest.subarray(0, length));
        rest = rest.subarray(length);
        onRequest?.(socket, requests.length);
      }
    });
    onConnection?.(socket);
  };
  const server: Server = isTls ? createTlsServer(SELF_SIGNED, listen) : createServer(listen);
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return {
    base: `${isTls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    requests,
    get bytes() {
      return bytes;
    },
    get connections() {
      return sockets.size;
    },
  };
}

function lengthOfRequest(bytes: Buffer): number | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const length = /^content-length: *(\d+)/im.exec(bytes.toString('latin1', 0, end))?.[1] ?? '0';
  const total = end + 4 + Number(length);
  return bytes.length < total ? undefined : total;
}

/** A whole answer; its length is stated unless the headers say otherwise. */
export function anAnswer(status: number, body = '', headers: Readonly<Record<string, string>> = {}): string {
  const all = { 'content-length': String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n${body}`;
}

/** Answers each request with this. */
export function answers(text = anAnswer(200)): RawBehaviour {
  return { onRequest: (socket) => socket.write(text) };
}
