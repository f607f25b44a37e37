import { isObject } from '../../domain/is-object.js';
import type { Fields } from '../ledger/entry-head.js';
import { MALFORMED, readQueueId } from './configuration-request.js';
import { type GatewayProblem, invalid, isText } from './problem.js';

/** Limits of the service's documentation. */
const MAX_HISTORY = 200;
const MAX_ADDITIONAL_PROPERTIES = 30;

const USER_TEXTS = ['language', 'name', 'email', 'phone', 'userId', 'company', 'caseId'] as const;

/** First fault of a creation; whether channel and queue exist is not checked here. */
export function refuseCreation(body: unknown): GatewayProblem | undefined {
  if (!isObject(body)) return MALFORMED;
  if (!isText(body.channelId)) return invalid('channelId must be the id of a channel');
  if (!isObject(body.user)) return invalid('user must be an object');
  return refuseAssignment(body.assignment) ?? refuseUser(body.user) ?? refuseHistory(body.history);
}

/** First fault of an update, which must name a user or an assignment. */
export function refuseUpdate(body: unknown, channelId: string): GatewayProblem | undefined {
  if (!isObject(body)) return MALFORMED;
  const { user, assignment } = body;
  if (user === undefined && assignment === undefined) return invalid('user or assignment must be given');
  if (body.channelId !== undefined && body.channelId !== channelId) return invalid("channelId can't be changed");
  return refuseAssignment(assignment) ?? (user === undefined ? undefined : refuseUser(user));
}

/** First fault of a message, which only the customer sends this way. */
export function refuseMessage(body: unknown): GatewayProblem | undefined {
  if (!isObject(body)) return MALFORMED;
  const { authorType, text } = body;
  if (authorType !== 'user') return invalid(`Invalid authorType=${String(authorType)}, has to be user`);
  return isText(text) ? undefined : invalid('text must be a text of at least one character');
}

/** The queue that a checked body names; undefined when it names none. */
export function queueIdOf({ assignment }: Fields): string | undefined {
  return readQueueId(assignment);
}

function refuseAssignment(value: unknown): GatewayProblem | undefined {
  if (value === undefined || readQueueId(value) !== undefined) return undefined;
  return invalid('assignment must have the type queue and the id of a queue');
}

function refuseUser(user: unknown): GatewayProblem | undefined {
  if (!isObject(user)) return invalid('user must be an object');
  for (const field of USER_TEXTS) {
    if (user[field] !== undefined && typeof user[field] !== 'string') return invalid(`user.${field} must be a text`);
  }
  const { additionalProperties: properties = [] } = user;
  if (!Array.isArray(properties)) return invalid('user.additionalProperties must be an array');
  if (properties.length > MAX_ADDITIONAL_PROPERTIES) {
    return invalid(`user.additionalProperties must be at most ${MAX_ADDITIONAL_PROPERTIES}`);
  }
  const place = properties.findIndex((entry) => !isObject(entry) || !isText(entry.key) || !isText(entry.value));
  return place === -1 ? undefined : invalid(`user.additionalProperties[${place}] must have both a key and a value`);
}

function refuseHistory(history: unknown): GatewayProblem | undefined {
  if (history === undefined) return undefined;
  if (!isObject(history) || !Array.isArray(history.messages)) return invalid('history must have an array of messages');
  const { messages } = history;
  if (messages.length > MAX_HISTORY) return invalid(`history.messages must be at most ${MAX_HISTORY}`);
  for (const [place, message] of messages.entries()) {
    const problem = refuseHistoryMessage(message);
    if (problem !== undefined) return { ...problem, message: `history.messages[${place}]: ${problem.message}` };
  }
  return undefined;
}

/** A text may be missing beside attachments or adaptive cards, whose shape the contract does not show. */
function refuseHistoryMessage(message: unknown): GatewayProblem | undefined {
  if (!isObject(message)) return invalid('must be an object');
  const { authorType, text, attachments, cards } = message;
  if (authorType !== 'user' && authorType !== 'bot') {
    return invalid(`Invalid authorType=${String(authorType)}, has to be one of user, bot`);
  }
  const hasOther = [attachments, cards].some((list) => Array.isArray(list) && list.length > 0);
  if (text === undefined && hasOther) return undefined;
  return isText(text) ? undefined : invalid('text must be a text of at least one character');
}
