import { describe, expect, test } from 'vitest';
import { type PostFlags, postChat, type ReadFlags, readChat } from '../../src/commands/chat.js';
import { aCaller, aSandbox, aService } from './a-single-call.js';

async function aRoom() {
  const sandbox = await aSandbox();
  const caller = aCaller(aService(sandbox.origin));
  const { flags, terminal } = caller;
  return {
    ...caller,
    sandbox,
    post: (text: string, more: Partial<PostFlags> = {}) =>
      postChat({ text, room: undefined, ...flags, ...more }, terminal),
    read: (more: Partial<ReadFlags> = {}) =>
      readChat({ room: undefined, pageSize: undefined, ...flags, ...more }, terminal),
  };
}

describe('volley chat', () => {
  test('posts to a room, and reads the messages of that room, oldest first', async () => {
    const { post, read, json } = await aRoom();
    expect([await post('one', { room: 'ops' }), await post('two', { room: 'ops' }), await post('else')]).toEqual([
      0, 0, 0,
    ]);
    expect(await read({ room: 'ops' })).toBe(0);
    expect(json().room).toBe('ops');
    expect(json().messages.map(({ text }: { text: string }) => text)).toEqual(['one', 'two']);
    expect(json().messages[0]).toMatchObject({ at: expect.stringMatching(/Z$/), timestamp: expect.any(Number) });
  });

  test('uses the room of the key where none is named', async () => {
    const { post, read, json } = await aRoom();
    await post('hello');
    await read();
    expect(json()).toMatchObject({ room: null, messages: [{ text: 'hello' }] });
  });

  test('reads no more than the page size', async () => {
    const { post, read, json } = await aRoom();
    for (const text of ['one', 'two', 'three']) await post(text);
    await read({ pageSize: '2' });
    expect(json().messages).toHaveLength(2);
  });

  test('on a terminal is a line for each message, from which nothing steers the terminal', async () => {
    const { post, read, said } = await aRoom();
    await post('two\nlines \u001b[31m', { json: false, room: 'ops' });
    await read({ json: false, room: 'ops' });
    await read({ json: false, room: 'empty' });
    const [posted, message, ...others] = said.stdout.trimEnd().split('\n');
    expect(posted).toBe('Posted to room ops.');
    expect(message).toMatch(/^\S+Z {2}Sandbox: two⏎lines \\u\{1b\}\[31m$/);
    expect(others).toEqual(['There is no message in this room.']);
  });

  test('posts nothing twice when the answer was lost', async () => {
    const { post, read, json, sandbox } = await aRoom();
    sandbox.setFaults([{ kind: 'reset-after', nth: 1 }]);
    await expect(post('once')).rejects.toMatchObject({ name: 'ServiceError', code: 'in-doubt' });
    await read();
    expect(json().messages).toHaveLength(1);
  });

  test.each(['', '  '])('refuses the text %o, and calls no one', async (text) => {
    const { post, sandbox } = await aRoom();
    await expect(post(text)).rejects.toMatchObject({ name: 'UserError', code: 'bad-flag' });
    expect([...sandbox.readRequests()]).toEqual([]);
  });

  test.each(['', ' '])('refuses the room %o, and calls no one', async (room) => {
    const { post, read, sandbox } = await aRoom();
    await expect(post('hello', { room })).rejects.toMatchObject({ name: 'UserError', code: 'bad-flag' });
    await expect(read({ room })).rejects.toMatchObject({
      code: 'bad-flag',
      message: expect.stringContaining('--room'),
    });
    expect([...sandbox.readRequests()]).toEqual([]);
  });

  test.each(['0', '-1', '1.5', 'x', '', '1e3'])(
    'refuses the page size %j as it was typed, and calls no one',
    async (pageSize) => {
      const { read, sandbox } = await aRoom();
      await expect(read({ pageSize })).rejects.toMatchObject({
        name: 'UserError',
        code: 'bad-flag',
        message: expect.stringContaining(`--page-size is "${pageSize}"`),
      });
      expect([...sandbox.readRequests()]).toEqual([]);
    },
  );
});
