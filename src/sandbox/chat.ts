import { z } from 'zod';
import { remember } from '../domain/is-object.js';
import { type AreaEntry, defineRoute, type SandboxArea, someText } from './area.js';
import type { ErrorForm } from './http-answer.js';

/** A message that was posted. */
export type ChatEntry = AreaEntry<'chat', ChatRow>;

interface ChatRow {
  readonly room: string;
  readonly messageId: string;
  /** Microseconds since 1970, 16 digits; no two messages have the same. */
  readonly timestamp: number;
  /** As it was posted. */
  readonly messageRaw: string;
}

const MESSAGES = '/chat/api/chat/v1/messages';

/** Where a test key writes when no room is named. */
const DEFAULT_ROOM = 'sandbox';
/** Default of the service's documentation, which names no bounds. */
const DEFAULT_PAGE_SIZE = '30';

const postSchema = z.object({ messageRaw: someText, room: someText.default(DEFAULT_ROOM) });

/** Workplace chat: messages in rooms. A room exists as soon as it is named. */
export function createChatArea(newId: () => string, requestsPerSecond: number): SandboxArea {
  const messagesOf = new Map<string, object[]>();
  let lastTimestamp = 0;

  return {
    name: 'chat',
    errors: CHAT_ERRORS,
    // The contract names the rate and not what happens above it: refused, so that pacing can be tested.
    rates: [{ perSecond: requestsPerSecond, of: () => 'the one key' }],
    routes: [
      defineRoute(`GET ${MESSAGES}`, 'chatKey', {
        handle: ({ query: { room = DEFAULT_ROOM, pageSize = DEFAULT_PAGE_SIZE } }) => {
          if (typeof room !== 'string' || room === '') return { status: 400, message: 'room must be a text' };
          if (typeof pageSize !== 'string' || !/^[1-9]\d{0,8}$/.test(pageSize)) {
            return { status: 400, message: 'pageSize must be a whole number from 1' };
          }
          return { status: 200, body: (messagesOf.get(room) ?? []).slice(-Number(pageSize)).reverse() };
        },
      }),
      defineRoute(`POST ${MESSAGES}`, 'chatKey', {
        schema: postSchema,
        // One message, to a room and not to a number.
        recipients: () => [''],
        handle: ({ at, body: { messageRaw, room } }) => {
          // Later than the last, whatever the clock says: its milliseconds are coarser than messages are frequent.
          const timestamp = Math.max(at * 1000, lastTimestamp + 1);
          const row: ChatRow = { room, messageId: newId(), timestamp, messageRaw };
          return { status: 200, body: toRoomMessage(row), entries: [row] };
        },
      }),
    ],
    apply: (row: ChatRow) => {
      remember(messagesOf, row.room, () => []).push(toRoomMessage(row));
      lastTimestamp = Math.max(lastTimestamp, row.timestamp);
    },
    // Times continue to increase.
    clear: () => messagesOf.clear(),
  };
}

function toRoomMessage({ messageId: id, timestamp, messageRaw: parsed }: ChatRow) {
  const avatarUrl = 'https://chat.example/avatars/sandbox.png';
  const authorUser = { avatarUrl, email: 'sandbox@acme.example', id: 'sandbox-user', name: 'Sandbox' };
  return { authorUser, parsed, id, timestamp };
}

/** Text and code of each status. The contract shows the 401 only; the others follow its form. */
const CHAT_ERRORS: ErrorForm = {
  statuses: {
    400: { code: 'request.Invalid', message: 'Bad request' },
    401: { code: 'oauth.v2.InvalidAccessToken', message: 'Invalid access token' },
    403: { code: 'request.Forbidden', message: 'Forbidden' },
    404: { code: 'request.NotFound', message: 'Not found' },
    413: { code: 'request.TooLarge', message: 'Request body is too large' },
    429: { code: 'policies.ratelimit.QuotaViolation', message: 'Rate limit of 5 requests per second exceeded' },
    500: { code: 'request.Internal', message: 'Internal server error' },
  },
  body: (errorcode, faultstring) => ({ fault: { faultstring, detail: { errorcode } } }),
};
