import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { createService } from '../../src/library.js';
import { rowOf } from '../kinds/examples.js';
import { aCall, aTransport, IMPATIENT } from '../service/a-call.js';
import { anAnswer, aRawServer } from '../service/raw-server.js';
import { type Fault, type Wire, writeAnswer } from './fault.js';
import { FaultyServer } from './faulty-server.js';

/** What it was asked for comes unasked behind an answer, for the request that comes next on that connection. */
const answeringLate = (first: string) => ({
  onRequest: ({ socket, process }: Wire) => {
    const late = writeAnswer(process());
    socket.write(first);
    socket.prependOnceListener('data', () => socket.write(late));
  },
});

test.each([
  ['an error', anAnswer(500)],
  ['a page', anAnswer(200, '<html>Please wait</html>')],
])('a single call behind one that was answered with %s does not get the answer to that one', async (_, first) => {
  const fault: Fault = { what: 'answers late', means: 'unknown', ...answeringLate(first) };
  const isTarget = ({ path }: { path: string }) => path.endsWith('/conversations');
  const server = await FaultyServer.open({ fault, at: 1, lasts: 'once', isTarget });
  onTestFinished(() => server.close());
  const service = createService({
    account: 'acme',
    bases: { gateway: server.base },
    credentials: { gateway: 'k3y' },
    limits: { gateway: { requestsPerSecond: 100 } },
  });
  onTestFinished(() => service.close());
  const create = (row: number) =>
    service.gateway.createConversation({ channelId: 'sandbox-channel', user: { name: rowOf(row).name } });

  await expect(create(1)).rejects.toMatchObject({ code: 'in-doubt' });
  // The HTTP client takes a connection for free a turn of the event loop after its answer.
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  const { conversationId } = await create(2);

  expect(server.service.kept.of('conversations', rowOf(2).name)).toMatchObject([{ id: conversationId }]);
});

test('connections that are dropped answer what is in flight, and nothing after it', async () => {
  const held: (() => void)[] = [];
  const server = await aRawServer({
    onRequest: (socket, number) => {
      const answer = () => void socket.write(anAnswer(200, `${number}`));
      if (number === 1) held.push(answer);
      else answer();
    },
  });
  const transport = aTransport();
  const send = async () => {
    const answer = await transport.send(aCall({ base: server.base }), undefined);
    return answer.kind === 'response' ? answer.body.toString() : answer.reason;
  };
  const first = send();
  await expect.poll(() => held.length).toBe(1);

  transport.dropConnections?.();

  expect(await send()).toBe('2');
  held[0]?.();
  expect(await first).toBe('1');
  expect(await send()).toBe('3');
  expect(server.connections).toBe(2);
});

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** What runs so often is compiled in a way that keeps nothing longer than it is read. */
const OFTEN = 5000;

test('the deadline of a drip-fed answer holds after thousands of requests, when memory is collected meanwhile', async () => {
  const timers: NodeJS.Timeout[] = [];
  onTestFinished(() => timers.forEach(clearInterval));
  const server = await aRawServer({
    onRequest: (socket, number) => {
      if (number <= OFTEN) return void socket.write(anAnswer(200, '{}'));
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      timers.push(setInterval(() => socket.write(' '), 20));
    },
  });
  const transport = aTransport(IMPATIENT);
  const stop = new AbortController();
  for (let count = 0; count < OFTEN; count++) await transport.send(aCall({ base: server.base }), stop.signal);
  timers.push(setInterval(collectGarbage, 50));

  const answer = await transport.send(aCall({ base: server.base }), stop.signal);

  expect(answer).toMatchObject({ kind: 'failure', reason: 'no complete answer within 1.4 s (TimeoutError)' });
});
