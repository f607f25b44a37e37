import { printResult } from '../command/print.js';
import { type CommandEnd, type LoggedTerminal, logCommand } from '../command/runner.js';
import { escapeText, type Terminal } from '../command/terminal.js';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { omitUndefined } from '../job/omit-undefined.js';
import { EXIT } from '../report/exit-code.js';
import { type ChatMessage, postMessage, readMessages } from '../service/areas/chat.js';
import { callService } from './support/call-service.js';
import { refuseBlank } from './support/first-pause.js';

export interface ReadFlags {
  readonly job: string;
  /** Undefined: the room that the key belongs to. */
  readonly room: string | undefined;
  /** As it was typed. */
  readonly pageSize: string | undefined;
  readonly json: boolean | undefined;
}

/** `volley chat read`: the latest messages of a room, oldest first. */
export function readChat(flags: ReadFlags, terminal: Terminal): Promise<number> {
  return logCommand(terminal, { command: 'chat read', file: flags.job }, (name) =>
    readNamed(flags, { terminal, name }),
  );
}

async function readNamed(flags: ReadFlags, { terminal, name }: LoggedTerminal): Promise<CommandEnd> {
  const { room } = flags;
  const pageSize = parsePageSize(flags.pageSize);
  refuseBlank('read the chat', { '--room': room });
  const messages = await callService(terminal, { ...flags, nameFields: name, area: 'chat' }, ({ call }) =>
    call(readMessages, omitUndefined({ room, pageSize })),
  );
  const json = { room: room ?? null, messages: messages.map(toJson) };
  const lines = messages.map((message) => `${escapeText(describe(message))}\n`).join('');
  await printResult(terminal, flags, { json, text: lines === '' ? 'There is no message in this room.\n' : lines });
  return { exitCode: EXIT.ok, reason: `read ${countOf(messages.length, 'message')}` };
}

export interface PostFlags {
  readonly job: string;
  readonly text: string;
  readonly room: string | undefined;
  readonly json: boolean | undefined;
}

/** `volley chat post TEXT`: posts to a room, once. */
export function postChat(flags: PostFlags, terminal: Terminal): Promise<number> {
  return logCommand(terminal, { command: 'chat post', file: flags.job }, (name) =>
    postNamed(flags, { terminal, name }),
  );
}

async function postNamed(flags: PostFlags, { terminal, name }: LoggedTerminal): Promise<CommandEnd> {
  const { text, room } = flags;
  refuseBlank('post a chat message', { 'the text': text, '--room': room });
  const { parsed } = await callService(terminal, { ...flags, nameFields: name, area: 'chat' }, ({ call }) =>
    call(postMessage, { messageRaw: text, ...omitUndefined({ room }) }),
  );
  const where = room === undefined ? 'the room of the key' : `room ${room}`;
  const json = { room: room ?? null, parsed: parsed ?? null };
  await printResult(terminal, flags, { json, text: `Posted to ${escapeText(where)}.\n` });
  return { exitCode: EXIT.ok, reason: `posted to ${where}` };
}

function parsePageSize(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  const written = JSON.stringify(text);
  throw new UserError('bad-flag', `Cannot read the chat: --page-size is ${written}, expected a whole number from 1`);
}

function toJson({ id, at, timestamp, author, text }: ChatMessage) {
  return { id, at: at ?? null, timestamp: timestamp ?? null, author, text };
}

function describe({ at, author, text }: ChatMessage): string {
  const name = [author.name, author.email, author.id].find((known) => known !== '') ?? 'somebody';
  return `${at ?? 'at an unknown time'}  ${name}: ${text}`;
}
