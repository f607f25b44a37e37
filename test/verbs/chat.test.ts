import { expect, test } from 'vitest';
import { aSandboxCaller } from '../command/a-single-call.js';

test('chat posts to a room as it is written, and reads the messages of that room, oldest first', async () => {
  const { run, json } = await aSandboxCaller();
  for (const words of [['007', '--room', '1e3'], ['two', '--room', '1e3'], ['else']]) {
    expect(await run('chat', 'post', ...words)).toBe(0);
  }
  expect(await run('chat', 'read', '--room', '1e3')).toBe(0);
  expect(json().room).toBe('1e3');
  expect(json().messages.map(({ text }: { text: string }) => text)).toEqual(['007', 'two']);
  expect(json().messages[0]).toMatchObject({ at: expect.stringMatching(/Z$/), timestamp: expect.any(Number) });
  await run('chat', 'read');
  expect(json()).toMatchObject({ room: null, messages: [{ text: 'else' }] });
  await run('chat', 'read', '--room', '1e3', '--page-size', '1');
  expect(json().messages).toHaveLength(1);
});

test('chat on a terminal is a line for each message, from which nothing steers the terminal', async () => {
  const { run, said } = await aSandboxCaller();
  await run('chat', 'post', 'two\nlines \u001b[31m', '--no-json', '--room', 'ops');
  await run('chat', 'read', '--no-json', '--room', 'ops');
  await run('chat', 'read', '--no-json', '--room', 'empty');
  const [posted, message, ...others] = said.stdout.trimEnd().split('\n');
  expect(posted).toBe('Posted to room ops.');
  expect(message).toMatch(/^\S+Z {2}Sandbox: two⏎lines \\u\{1b\}\[31m$/);
  expect(others).toEqual(['There is no message in this room.']);
});
