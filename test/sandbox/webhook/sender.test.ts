import { expect, onTestFinished, test } from 'vitest';
import type { Clock } from '../../../src/ports/clock.js';
import { type PostKind, WebhookSender } from '../../../src/sandbox/webhook/sender.js';
import { aClock } from '../sandbox-client.js';
import { ManualClock } from './manual-clock.js';
import { aReceiver } from './receiver.js';

function aSender(clock: Clock = aClock(), retryScale = 1): WebhookSender {
  const sender = new WebhookSender(clock, retryScale, false);
  onTestFinished(() => sender.close());
  return sender;
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

interface Sent {
  readonly name?: string;
  readonly posts?: number;
  readonly lane?: string;
}

test('sender POSTs JSON with the headers of the posting', async () => {
  const receiver = await aReceiver();
  const sender = aSender();
  send(sender, receiver.url('/hook?key=1'));
  await sender.settle();
  expect(receiver.received).toMatchObject([
    {
      path: '/hook?key=1',
      headers: { 'content-type': 'application/json', 'x-attempt': '0' },
      body: { name: 'a', number: 1 },
    },
  ]);
  expect(sender.counts).toEqual({ pending: 0, delivered: 1, givenUp: 0, failedAttempts: 0, outside: 0 });
});

test('sender lets a POST leave when the one before it in its lane was answered, and not before', async () => {
  let release = (_: number) => {};
  const held = new Promise<number>((resolve) => {
    release = resolve;
  });
  const receiver = await aReceiver(({ body }) => (body.name === 'slow' && body.number === 1 ? held : 200));
  const sender = aSender();
  send(sender, receiver.url(), [], { name: 'slow', posts: 2 });
  await receiver.arrival(1);
  send(sender, receiver.url(), [], { name: 'quick', posts: 3 });
  await receiver.arrival(4);
  expect(receiver.received.map(({ body }) => `${body.name} ${body.number}`)).toEqual([
    'slow 1',
    'quick 1',
    'quick 2',
    'quick 3',
  ]);
  release(200);
  await sender.settle();
  expect(receiver.received.at(-1)?.body).toEqual({ name: 'slow', number: 2 });
});

test('sender lets what is sent under one name leave one after another, past a failure, and other names beside it', async () => {
  const receiver = await aReceiver((_, place) => (place === 0 ? 500 : 200));
  const sender = aSender();
  const sendIn = (lane: string, number: number) =>
    send(sender, receiver.url(), [1000], { name: `${lane}${number}`, lane });
  for (let number = 1; number <= 20; number++) sendIn('a', number);
  await sender.settle();
  sendIn('a', 21);
  sendIn('b', 1);
  await sender.settle();
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
    await sender.settle();
    expect(receiver.received.map(({ path, headers, body }) => [path, headers['x-attempt'], body])).toEqual(
      ['0', '1', '2'].map((attempt) => ['/hook', attempt, { name: 'a', number: 1 }]),
    );
    expect(clock.slept).toEqual([1000, 10_000]);
    expect(sender.counts).toEqual({ pending: 0, delivered: 1, givenUp: 0, failedAttempts: 2, outside: 0 });
  },
);

test('sender gives a POST up after the last delay, and continues with the next of its lane from attempt 0', async () => {
  const receiver = await aReceiver(({ body }) => (body.number === 1 ? 500 : 200));
  const sender = aSender();
  send(sender, receiver.url(), [1000, 10_000], { posts: 2 });
  await sender.settle();
  expect(receiver.received.map(({ headers, body }) => [body.number, headers['x-attempt']])).toEqual([
    [1, '0'],
    [1, '1'],
    [1, '2'],
    [2, '0'],
  ]);
  expect(sender.counts).toEqual({ pending: 0, delivered: 1, givenUp: 1, failedAttempts: 3, outside: 0 });
});

test('sender shrinks all delays by its scale', async () => {
  const receiver = await aReceiver((_, place) => (place < 2 ? 500 : 200));
  const clock = aClock();
  const sender = aSender(clock, 0.01);
  send(sender, receiver.url(), [1000, 10_000]);
  await sender.settle();
  expect(clock.slept).toEqual([10, 100]);
});

test('sender has at most 16 POSTs under way', async () => {
  let release = (_: number) => {};
  const held = new Promise<number>((resolve) => {
    release = resolve;
  });
  const receiver = await aReceiver(() => held);
  const sender = aSender();
  for (let count = 0; count < 100; count++) send(sender, receiver.url());
  await receiver.arrival(16);
  expect(sender.counts.pending).toBe(100);
  release(200);
  await sender.settle();
  expect(receiver.received).toHaveLength(100);
  expect(receiver.mostAtOnce).toBe(16);
});

test('sender lets other lanes pass one that waits for its next attempt', async () => {
  const receiver = await aReceiver(({ path }) => (path === '/bad' ? 500 : 200));
  const clock = new ManualClock();
  const sender = aSender(clock);
  for (let count = 0; count < 20; count++) send(sender, receiver.url('/bad'), [1000]);
  await receiver.arrival(20);
  send(sender, receiver.url('/good'));
  await receiver.arrival(21);
  expect(receiver.received.at(-1)?.path).toBe('/good');
});

test('sender wakes none that wait early, and those that wait for the same moment by one timer', async () => {
  const receiver = await aReceiver(({ headers }) => (headers['x-attempt'] === '0' ? 500 : 200));
  const clock = new ManualClock();
  const sender = aSender(clock);
  for (let count = 0; count < 5; count++) send(sender, receiver.url(), [1000], { name: 'early' });
  await failures(sender, 5);
  expect(clock.sleeping).toBe(1);
  clock.advance(400);
  send(sender, receiver.url(), [1000], { name: 'late' });
  await failures(sender, 6);
  clock.advance(600);
  await receiver.arrival(11);
  expect(receiver.received.slice(6).map(({ body }) => body.name)).toEqual(Array(5).fill('early'));
  clock.advance(400);
  await sender.settle();
  expect(receiver.received.at(-1)?.body.name).toBe('late');
});

test('sender that is cleared forgets what waits, and counts from 0', async () => {
  const receiver = await aReceiver(() => 500);
  const clock = new ManualClock();
  const sender = aSender(clock);
  const called: string[] = [];
  send(sender, receiver.url(), [1000], { posts: 5 });
  sender.later(500, () => called.push('later'));
  await clock.sleepers(2);
  const settled = sender.settle();
  sender.clear();
  await settled;
  expect(sender.counts).toEqual({ pending: 0, delivered: 0, givenUp: 0, failedAttempts: 0, outside: 0 });
  expect(clock.sleeping).toBe(0);
  send(sender, receiver.url('/new'));
  await sender.settle();
  expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/new']);
  expect(called).toEqual([]);
  expect(sender.counts).toEqual({ pending: 0, delivered: 0, givenUp: 1, failedAttempts: 1, outside: 0 });
});

test('sender does not count a POST that was under way when it was cleared', async () => {
  let release = (_: number) => {};
  const held = new Promise<number>((resolve) => {
    release = resolve;
  });
  const receiver = await aReceiver(({ path }) => (path === '/old' ? held : 200));
  const sender = aSender();
  send(sender, receiver.url('/old'), [], { posts: 2 });
  await receiver.arrival(1);
  sender.clear();
  release(200);
  for (let count = 0; count < 32; count++) send(sender, receiver.url('/new'));
  await sender.settle();
  expect(sender.counts.delivered).toBe(32);
  expect(receiver.received.filter(({ path }) => path === '/old')).toHaveLength(1);
});

test('sender closes though a receiver never answers, and sends nothing after', async () => {
  const receiver = await aReceiver(() => 'hang');
  const clock = new ManualClock();
  const sender = aSender(clock);
  send(sender, receiver.url(), [1000], { posts: 2 });
  await receiver.arrival(1);
  const settled = sender.settle();
  await sender.close();
  await settled;
  send(sender, receiver.url());
  expect(sender.counts.pending).toBe(0);
  expect(clock.sleeping).toBe(0);
  expect(receiver.received).toHaveLength(1);
  await sender.close();
});

/** Resolves when so many attempts have failed; each turn of the loop lets the network go on. */
async function failures(sender: WebhookSender, count: number): Promise<void> {
  while (sender.counts.failedAttempts < count) await new Promise((resolve) => setImmediate(resolve));
}
