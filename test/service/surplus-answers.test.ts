import type { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { aCall, aTransport } from './a-call.js';
import { anAnswer, aRawServer, type RawBehaviour } from './raw-server.js';
import { SELF_SIGNED } from './self-signed.js';

/** More than the system takes at once. */
const HUGE = Buffer.alloc(32 * 1024 * 1024, 'x');
const REFUSAL = anAnswer(400, '{"code":1000,"message":"no","errorId":"e"}');
const nextTurn = () => new Promise(setImmediate);

describe.each([
  ['one that may be repeated, over a connection that is kept', false],
  ['one that may not, over a connection of its own', true],
])('a request, %s,', (_, hasOwnConnection) => {
  test.each([
    ['plain', false],
    ['over TLS', true],
  ])('whose answer comes before it was sent whole, %s, is in doubt, and the connection ends', async (_, isTls) => {
    if (isTls) trustAnyCertificate();
    const sockets: Socket[] = [];
    const onConnection: RawBehaviour['onConnection'] = (socket) => {
      sockets.push(socket);
      socket.removeAllListeners('data').once('data', () => {
        socket.pause();
        socket.write(REFUSAL);
      });
    };
    const server = await aRawServer({ onConnection, isTls });

    const call = aCall({ base: server.base, body: HUGE, hasOwnConnection });
    const answer = await aTransport().send(call, undefined);
    for (const socket of sockets) socket.destroy();
    const reason = 'an answer came before the request was sent whole';
    expect(answer).toEqual({ kind: 'failure', mayHaveBeenProcessed: true, reason });
  });

  test('whose answer over TLS is there before the next look at the connection has it', async () => {
    trustAnyCertificate();
    const base = `https://127.0.0.1:${await aServerInAThread()}`;
    const transport = aTransport();
    for (let times = 0; times < 5; times++) {
      const reportConnectDelay = () => process.nextTick(block);
      await nextTurn();
      const answer = transport.send(aCall({ base, hasOwnConnection, reportConnectDelay }), undefined);
      block();
      expect(await answer).toMatchObject({ kind: 'response', status: 200 });
    }
  });

  test('is not sent to a server that speaks before it is asked', async () => {
    const onConnection: RawBehaviour['onConnection'] = (socket) => socket.write(REFUSAL);
    const server = await aRawServer({ onConnection, onRequest: (socket) => socket.write(anAnswer(200)) });
    // The bytes come with the connection, or a moment later: then they are taken for what they may be.
    const answer = await aTransport().send(aCall({ base: server.base, hasOwnConnection }), undefined);
    expect(server.requests.length === 0 || answer.kind === 'failure').toBe(true);
  });
});

test('bytes that come while nothing is asked end the connection, and the next request has its own answer over another one', async () => {
  const onRequest: RawBehaviour['onRequest'] = (socket, number) => {
    socket.write(anAnswer(200, `to ${number}`));
    setTimeout(() => socket.write(REFUSAL), 10);
  };
  let closed = 0;
  const onConnection: RawBehaviour['onConnection'] = (socket) => socket.once('close', () => closed++);
  const server = await aRawServer({ onConnection, onRequest });
  const transport = aTransport();
  for (const number of [1, 2, 3]) {
    const answer = await transport.send(aCall({ base: server.base }), undefined);
    expect(answer).toMatchObject({ status: 200, body: Buffer.from(`to ${number}`) });
    await vi.waitFor(() => expect(closed).toBe(number));
  }
});

test('what may not be repeated shares a connection with nothing before it and nothing behind it', async () => {
  const ports: (number | undefined)[] = [];
  const onRequest: RawBehaviour['onRequest'] = (socket) => {
    ports.push(socket.remotePort);
    socket.write(anAnswer(200));
  };
  const server = await aRawServer({ onRequest });
  const transport = aTransport();
  for (const hasOwnConnection of [false, true, false, true, true, false]) {
    await transport.send(aCall({ base: server.base, hasOwnConnection }), undefined);
    await nextTurn();
  }
  const [kept, own] = [
    [ports[0], ports[2], ports[5]],
    [ports[1], ports[3], ports[4]],
  ];
  expect(new Set(kept).size).toBe(1);
  expect(new Set([...own, kept[0]]).size).toBe(4);
});

function trustAnyCertificate(): void {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
}

/** Long enough for a server in another thread to answer. */
function block(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
}

/** It answers while this thread is blocked. Its port. */
async function aServerInAThread(): Promise<number> {
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
    const server = require('node:https').createServer(workerData.tls, (request, response) => {
      request.resume().on('end', () => response.end('ok'));
    });
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
    { eval: true, workerData: { tls: SELF_SIGNED } },
  );
  onTestFinished(async () => void (await worker.terminate()));
  return new Promise((resolve) => worker.once('message', resolve));
}
