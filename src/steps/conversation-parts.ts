import { MAX_ADDITIONAL_PROPERTIES, MAX_HISTORY_MESSAGES } from '../service/documented.js';
import type { ConversationRequest, ConversationUser } from '../service/gateway.js';

export interface Fault {
  /** One sentence for the person who owns the file. */
  readonly fault: string;
}

const USER_TEXTS = ['language', 'name', 'email', 'phone'] as const;
const USER_FIELDS: readonly string[] = [...USER_TEXTS, 'additionalProperties'];

/** Reads a user as the contract has it ("Conversation", user object) from JSON text; null members count as left out. */
export function parseUser(text: string): ConversationUser | Fault {
  const user = parseObject(text, 'user');
  if (isFault(user)) return user;
  const unknown = Object.keys(user).find((key) => !USER_FIELDS.includes(key));
  if (unknown !== undefined) return { fault: `user has a field "${unknown}", expected ${USER_FIELDS.join(', ')}` };
  for (const field of USER_TEXTS) {
    if (user[field] !== undefined && typeof user[field] !== 'string') return { fault: `user.${field} is no text` };
  }
  const fault = findPropertyFault(user.additionalProperties);
  if (fault !== undefined) return { fault };
  return Object.keys(user).length === 0 ? { fault: 'user is empty' } : user;
}

/** Contract: "every entry must have both a key and a value". */
function findPropertyFault(properties: unknown): string | undefined {
  if (properties === undefined) return undefined;
  if (!Array.isArray(properties)) return 'user.additionalProperties is no list';
  if (properties.length > MAX_ADDITIONAL_PROPERTIES) {
    return `user.additionalProperties has ${properties.length} entries, expected at most ${MAX_ADDITIONAL_PROPERTIES}`;
  }
  for (const [index, entry] of properties.entries()) {
    const isWhole = isObject(entry) && isFilled(entry.key) && isFilled(entry.value);
    if (!isWhole) return `user.additionalProperties[${index}] has not both a key and a value`;
  }
  return undefined;
}

/** Reads a history as the contract has it ("History object"); attachments and cards go along as they are. */
export function parseHistory(text: string): NonNullable<ConversationRequest['history']> | Fault {
  const written = text.trim().startsWith('[') ? `{"messages":${text}}` : text;
  const history = parseObject(written, 'history');
  if (isFault(history)) return history;
  const { messages } = history;
  if (!Array.isArray(messages)) return { fault: 'history has no list of messages' };
  if (messages.length > MAX_HISTORY_MESSAGES) {
    return { fault: `history has ${messages.length} messages, expected at most ${MAX_HISTORY_MESSAGES}` };
  }
  for (const [index, message] of messages.entries()) {
    const fault = findMessageFault(message);
    if (fault !== undefined) return { fault: `history.messages[${index}] ${fault}` };
  }
  return { ...history, messages };
}

function findMessageFault(message: unknown): string | undefined {
  if (!isObject(message)) return 'is no object';
  if (message.authorType !== 'user' && message.authorType !== 'bot') return 'has an authorType other than user or bot';
  const hasMore = message.attachments !== undefined || message.cards !== undefined;
  if (message.text === undefined && hasMore) return undefined;
  return isFilled(message.text) ? undefined : 'has no text';
}

function parseObject(text: string, name: string): Record<string, unknown> | Fault {
  if (text.trim() === '') return { fault: `There is no ${name}` };
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
  } catch {
    // Told below, without a word of the row.
  }
  return { fault: `${name} is no JSON object` };
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isFault(value: Record<string, unknown> | Fault): value is Fault {
  return Object.keys(value).length === 1 && typeof value.fault === 'string';
}
