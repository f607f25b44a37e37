import { expect, onTestFinished, test, vi } from 'vitest';
import type { Clock } from '../../../src/ports/clock.js';
import { createWebhookSender, type PostKind, type WebhookSender } from '../../../src/sandbox/webhook-sender.js';
import { FakeClock } from '../../run/fake-clock.js';
import { aClock } from '../sandbox-client.js';
import { aReceiver } from './receiver.js';

function aSender(clock: Clock = aClock()): WebhookSender {
  const sender = createWebhookSender(clock, 1, false);
  onTestFinished(() => sender.close());
  return sender;
}

/** Until nothing is pending. */
async function settle(sender: WebhookSender): Promise<void> {
  await expect.poll(() => sender.counts.pending, { interval: 2, timeout: 30_000 }).toBe(0);
}

function anAnswerLater() {
  let release = (_: number) => {};
  const held = new Promise<number>((resolve) => {
    release = resolve;
  });
  return { held, release };
}

/** Sends so many POSTs, numbered from 1; a header counts the attempts. */
function send(sender: WebhookSender, url: string, delaysMs: readonly number[] = [], more: Sent = {}): void {
  const { name = 'a', posts = 1, lane } = more;
  const kind: PostKind<string> = {
    count: posts,
    build: (named, place, attempt) => ({
      headers: { 'x-attempt': String(attempt) },
      body: { name: named, number: place + 1 },
    }),
    retryDelayMs: (attempt) => delaysMs[attempt - 1],
  };
  sender.send(kind, url, name, lane);
}

type Sent = Readonly<{ name?: string; posts?: number; lane?: string }>;

test('sender lets a POST leave when the one before it in its lane was answered, and not before', async () => {
  const { held, release } = anAnswerLater();
  const receiver = await aReceiver(({ body }) => (body.name === 'slow' && body.number === 1 ? held : 200));
  const sender = aSender();
  send(sender, receiver.url(), [], { name: 'slow', posts: 2 });
  await receiver.arrival(1);
  send(sender, receiver.url(), [], { name: 'quick', posts: 3 });
  await receiver.arrival(4);
  const expected = ['slow 1', 'quick 1', 'quick 2', 'quick 3'];
  expect(receiver.received.map(({ body }) => `${body.name} ${body.number}`)).toEqual(expected);
  release(200);
  await settle(sender);
  expect(receiver.received.at(-1)?.body).toEqual({ name: 'slow', number: 2 });
});

test('sender lets what is sent under one name leave one after another, past a failure, and other names beside it', async () => {
  const receiver = await aReceiver((_, place) => (place === 0 ? 500 : 200));
  const sender = aSender();
  const sendIn = (lane: string, number: number) =>
    send(sender, receiver.url(), [1000], { name: `${lane}${number}`, lane });
  for (let number = 1; number <= 20; number++) sendIn('a', number);
  await settle(sender);
  sendIn('a', 21);
  sendIn('b', 1);
  await settle(sender);
  const names = receiver.received.map(({ body }) => body.name);
  expect(names.filter((name) => name !== 'b1')).toEqual([
    'a1',
    ...Array.from({ length: 21 }, (_, place) => `a${place + 1}`),
  ]);
  expect(names).toContain('b1');
});

test.each([300, 302, 307, 400, 404, 410, 429, 500, 503, 'reset'] as const)(
  'sender repeats a POST that was answered %s, the same body after the delays of its lane, and follows nothing',
  async (behaviour) => {
    const receiver = await aReceiver((_, place) => (place < 2 ? behaviour : 204));
    const clock = aClock();
    const sender = aSender(clock);
    send(sender, receiver.url(), [1000, 10_000, 30_000]);
    await settle(sender);
    expect(receiver.received.map(({ path, headers, body }) => [path, headers['x-attempt'], body])).toEqual(
      ['0', '1', '2'].map((attempt) => ['/hook', attempt, { name: 'a', number: 1 }]),
    );
    expect(clock.slept).toEqual([1000, 10_000]);
    expect(sender.counts).toEqual({ pending: 0, delivered: 1, givenUp: 0, failedAttempts: 2, outside: 0 });
  },
);

test('sender has at most 16 POSTs under way', async () => {
  const { held, release } = anAnswerLater();
  const receiver = await aReceiver(() => held);
  const sender = aSender();
  for (let count = 0; count < 100; count++) send(sender, receiver.url());
  await receiver.arrival(16);
  expect(sender.counts.pending).toBe(100);
  release(200);
  await settle(sender);
  expect(receiver.received).toHaveLength(100);
  expect(receiver.mostAtOnce).toBe(16);
});

test('sender that is cleared forgets what waits, and counts from 0', async () => {
  const receiver = await aReceiver(() => 500);
  const clock = new FakeClock();
  const sender = aSender(clock);
  const called: string[] = [];
  send(sender, receiver.url(), [1000], { posts: 5 });
  sender.later(500, () => called.push('later'));
  await vi.waitFor(() => expect(clock.sleeping).toBe(2));
  sender.clear();
  expect(sender.counts).toEqual({ pending: 0, delivered: 0, givenUp: 0, failedAttempts: 0, outside: 0 });
  expect(clock.sleeping).toBe(0);
  send(sender, receiver.url('/new'));
  await settle(sender);
  expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/new']);
  expect(called).toEqual([]);
  expect(sender.counts).toEqual({ pending: 0, delivered: 0, givenUp: 1, failedAttempts: 1, outside: 0 });
});

test('sender closes though a receiver never answers, and sends nothing after', async () => {
  const receiver = await aReceiver(() => 'hang');
  const clock = new FakeClock();
  const sender = aSender(clock);
  send(sender, receiver.url(), [1000], { posts: 2 });
  await receiver.arrival(1);
  await sender.close();
  send(sender, receiver.url());
  expect(sender.counts.pending).toBe(0);
  expect(clock.sleeping).toBe(0);
  expect(receiver.received).toHaveLength(1);
  await sender.close();
});
