import { escapeText } from '../command/screen.js';
import { callOnce } from '../command/single-call.js';
import { countOf } from '../domain/count-of.js';
import { omitUndefined } from '../domain/is-object.js';
import { type ChatMessage, postMessage, readMessages } from '../service/areas/chat.js';
import { argument, defineBelow, type Group, single, text, whole } from './verb.js';

const room = text('Name of the room (default: the one that the key belongs to)');

const read = defineBelow('read', 'Show the latest messages, oldest first', {
  args: {},
  flags: { room, 'page-size': whole('How many messages (default: as many as the service gives)', 1), ...single },
  examples: [['--room ops --page-size 10 --job jobs/campaign-window.yaml', '']],
  run: async ({ job, room, pageSize }, context) => {
    const input = omitUndefined({ room, pageSize });
    return callOnce(context, job, {
      endpoint: readMessages,
      input,
      result: (messages) => ({
        json: {
          room: room ?? null,
          messages: messages.map(({ id, at, timestamp, author, text }) => {
            return { id, at: at ?? null, timestamp: timestamp ?? null, author, text };
          }),
        },
        text:
          messages.length === 0
            ? 'There is no message in this room.\n'
            : messages.map((message) => `${escapeText(describe(message))}\n`).join(''),
        reason: `read ${countOf(messages.length, 'message')}`,
      }),
    });
  },
});

function describe({ at, author, text }: ChatMessage): string {
  const name = [author.name, author.email, author.id].find((known) => known !== '') ?? 'unknown';
  return `${at ?? 'at an unknown time'}  ${name}: ${text}`;
}

const post = defineBelow('post <text>', 'Post a message to a room, once', {
  args: { text: argument('Text of the message') },
  flags: { room, ...single },
  examples: [['"The dialer is paused" --room ops --job jobs/campaign-window.yaml', '']],
  run: async ({ job, text, room }, context) => {
    const where = room === undefined ? 'the room of the key' : `room ${room}`;
    return callOnce(context, job, {
      endpoint: postMessage,
      input: { messageRaw: text, ...omitUndefined({ room }) },
      result: ({ parsed }) => ({
        json: { room: room ?? null, parsed: parsed ?? null },
        text: `Posted to ${escapeText(where)}.\n`,
        reason: `posted to ${where}`,
      }),
    });
  },
});

export const chat: Group = [read, post];
