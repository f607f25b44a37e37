import type { AreaCall, AreaDeps, Distortable, Route, SandboxArea } from '../area.js';
import { findRowFault } from '../faults/chosen.js';
import { answerJson, type HttpAnswer } from '../http-answer.js';
import { createRateCounter } from '../rate-limit.js';
import { answerFault, chatBodyOfStatus } from './fault-body.js';
import { type KeptMessage, type RoomMessage, RoomStore, toRoomMessage } from './room-store.js';

const MESSAGES = '/chat/api/chat/v1/messages';

/** Where a test key writes when no room is named. */
const DEFAULT_ROOM = 'sandbox';
/** Default of the service's documentation, which names no bounds. */
const DEFAULT_PAGE_SIZE = 30;

/** Workplace chat: messages in rooms, five requests a second for a key. */
export function createChatArea({ clock, keyring, ledger, newId, rateLimits }: AreaDeps): SandboxArea {
  const book = new RoomStore();
  const perKey = createRateCounter(rateLimits.perChatKey);

  const authorize = ({ headers }: AreaCall) => {
    const key = headers['x-api-key'];
    const refused = keyring.refuseChatKey(key, clock.now());
    if (refused !== undefined) return refused;
    // The contract names the rate and not what happens above it: refused, so that pacing can be tested.
    return perKey.take(String(key), clock.monotonicMs()) ? undefined : QUOTA_EXCEEDED;
  };

  const readMessages = async ({ query }: AreaCall): Promise<HttpAnswer> => {
    const room = query.room ?? DEFAULT_ROOM;
    if (!isRoom(room)) return BAD_ROOM;
    const pageSize = readPageSize(query.pageSize);
    if (pageSize === undefined) return answerFault(400, 'pageSize must be a whole number from 1');
    return answerJson(200, book.readNewest(room, pageSize));
  };

  const postMessage = async (call: AreaCall): Promise<HttpAnswer> => {
    const { body } = call;
    if (typeof body !== 'object' || body === null) return answerFault(400, 'Request body must be a JSON object');
    const { messageRaw, room = DEFAULT_ROOM } = body as Readonly<Record<string, unknown>>;
    if (typeof messageRaw !== 'string' || messageRaw === '') return answerFault(400, 'messageRaw must be a text');
    if (!isRoom(room)) return BAD_ROOM;
    const refused = refuseByFault(call);
    if (refused !== undefined) return refused;
    const at = clock.now();
    return ledger.accept({ at, area: 'chat', request: call.number }, () => {
      const message = { room, messageId: newId(), timestamp: book.nextTimestamp(at), messageRaw };
      return { rows: [message], answer: () => answerJson(200, toRoomMessage(message)) };
    });
  };

  return {
    name: 'chat',
    routes: [
      {
        method: 'GET',
        path: MESSAGES,
        takesBody: false,
        authorize,
        recipients: () => [],
        handle: readMessages,
        distortions: READ_DISTORTIONS,
      },
      {
        method: 'POST',
        path: MESSAGES,
        // A body that is not JSON arrives as undefined, and gets the chat's own error.
        takesBody: false,
        authorize,
        recipients: () => [NOBODY],
        handle: postMessage,
        distortions: POST_DISTORTIONS,
      },
    ],
    apply: (rows) => {
      for (const row of rows as unknown as readonly KeptMessage[]) book.post(row);
    },
    clear: () => book.clear(),
    bodyOfStatus: chatBodyOfStatus,
  };
}

const BAD_ROOM = answerFault(400, 'room must be a text');
const QUOTA_EXCEEDED = answerFault(429, undefined, { 'retry-after': '1' });

/** One message, to a room and not to a number. */
const NOBODY = '';

function refuseByFault({ rowFaults }: AreaCall): HttpAnswer | undefined {
  const fault = findRowFault(rowFaults, NOBODY);
  if (fault === undefined) return undefined;
  return fault.kind === 'reject-rows' ? answerFault(400, fault.description) : answerFault(500);
}

function isRoom(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function readPageSize(value: unknown): number | undefined {
  if (value === undefined) return DEFAULT_PAGE_SIZE;
  return typeof value === 'string' && /^[1-9]\d{0,8}$/.test(value) ? Number(value) : undefined;
}

const POST_DISTORTIONS: Route['distortions'] = {
  partial: ({ body }) => leaveIdOut(body as RoomMessage),
  foreign: ({ body, previousBody }: Distortable) =>
    previousBody ?? { ...(body as RoomMessage), id: 'not-yours', parsed: 'not yours' },
};

const READ_DISTORTIONS: Route['distortions'] = {
  partial: ({ body }) => (body as readonly RoomMessage[]).map(leaveIdOut),
  foreign: ({ previousBody }: Distortable) => previousBody ?? [],
};

function leaveIdOut({ id: _, ...rest }: RoomMessage): Omit<RoomMessage, 'id'> {
  return rest;
}
