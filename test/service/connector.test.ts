import dns from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createTransport } from '../../src/service/transport.js';
import { aCall, aTransport } from './a-call.js';
import { anAnswer, aRawServer, type RawBehaviour } from './raw-server.js';

/** Answers each request, and notes the connection that it came over. */
async function aServer(onConnection?: RawBehaviour['onConnection']) {
  const ports: (number | undefined)[] = [];
  const counts = { made: 0, closed: 0 };
  const server = await aRawServer({
    onConnection: (socket) => {
      counts.made++;
      socket.once('close', () => counts.closed++);
      onConnection?.(socket);
    },
    onRequest: (socket) => {
      ports.push(socket.remotePort);
      socket.write(anAnswer(200));
    },
  });
  return { base: server.base, ports, counts };
}

describe('requests with a connection of their own', () => {
  test('that follow each other leave at once, each over a connection that was made ahead for it alone', async () => {
    const { base, ports, counts } = await aServer();
    const transport = aTransport();
    const waited: number[] = [];
    for (let number = 1; number <= 6; number++) {
      const reportConnectDelay = () => void waited.push(number);
      const answer = await transport.send(aCall({ base, hasOwnConnection: true, reportConnectDelay }), undefined);
      expect(answer).toMatchObject({ status: 200 });
      // The second is the first that is known to follow one.
      if (number > 1) await vi.waitFor(() => expect(counts.made).toBe(number + 1));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(waited).toEqual([1, 2]);
    expect(new Set(ports).size).toBe(6);
  });

  test.each<[string, (socket: Socket) => void]>([
    ['spoke', (socket) => socket.write(anAnswer(408))],
    ['closed it', (socket) => socket.end()],
    ['reset it', (socket) => socket.resetAndDestroy()],
  ])('do not leave over one on which the server %s before it was asked', async (_, speak) => {
    const unasked = new Set<Socket>();
    const { base, ports, counts } = await aServer((socket) => {
      unasked.add(socket);
      socket.once('data', () => unasked.delete(socket));
    });
    const transport = aTransport();
    for (let number = 1; number <= 4; number++) {
      const answer = await transport.send(aCall({ base, hasOwnConnection: true }), undefined);
      expect(answer).toMatchObject({ kind: 'response', status: 200 });
      if (number === 1) continue;
      await vi.waitFor(() => expect(unasked.size).toBe(1));
      for (const socket of unasked) speak(socket);
      unasked.clear();
      await vi.waitFor(() => expect(counts.closed).toBe(counts.made));
      // The other end may know of it later.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(new Set(ports).size).toBe(4);
    expect(counts.made).toBe(7);
  });

  test('leave no connection behind when the transport is closed', async () => {
    const { base, counts } = await aServer();
    const transport = createTransport({ connectSeconds: 10, answerSeconds: 10 });
    const send = () => transport.send(aCall({ base, hasOwnConnection: true }), undefined);
    await Promise.all([send(), send(), send(), send()]);
    await transport.close();
    await vi.waitFor(() => expect(counts.closed).toBe(counts.made));
    expect(counts.made).toBeGreaterThan(4);
  });
});

test('while a host is looked up no one looks it up again, and all that wait get its address', async () => {
  const { base } = await aServer();
  const held: (() => void)[] = [];
  const { lookup } = dns;
  const holding: LookupFunction = (_, options, callback) =>
    void held.push(() => lookup('127.0.0.1', options, callback));
  const spy = vi.spyOn(dns, 'lookup').mockImplementation(holding as typeof lookup);
  onTestFinished(() => spy.mockRestore());
  const [impatient, patient] = [aTransport({ connectSeconds: 0.05, answerSeconds: 10 }), aTransport()];
  const send = (transport: typeof patient) => (hasOwnConnection: boolean) =>
    transport.send(aCall({ base: base.replace('127.0.0.1', 'sms.example'), hasOwnConnection }), undefined);

  for (const failed of [...(await Promise.all([true, false, true].map(send(impatient)))), await send(impatient)(true)])
    expect(failed).toMatchObject({ mayHaveBeenProcessed: false });
  expect(held).toHaveLength(1);
  const answers = [true, true, false].map(send(patient));
  await vi.waitFor(() => expect(held).toHaveLength(2));
  for (const answer of held.splice(0)) answer();
  for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ status: 200 });
});
