import { isObject } from '../../domain/is-object.js';
import { MAX_ADDITIONAL_PROPERTIES, MAX_HISTORY_MESSAGES } from '../../domain/service-facts.js';
import type { ConversationRequest, ConversationUser } from '../../service/areas/gateway.js';

/** Tagged, so that nothing that a row holds can be taken for a fault. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  /** `fault` is one sentence for the person who owns the file. */
  | { readonly ok: false; readonly fault: string };

export const USER_TEXTS = ['language', 'name', 'email', 'phone'] as const;
export type UserText = (typeof USER_TEXTS)[number];
const USER_FIELDS: readonly string[] = [...USER_TEXTS, 'additionalProperties'];

/**
 * Reads a user as the contract has it ("Conversation", user object) from JSON text, trimmed; null and blank members
 * count as missing.
 */
export function parseUser(text: string): Parsed<ConversationUser> {
  const parsed = parseObject(text, 'user');
  if (!parsed.ok) return parsed;
  const user = parsed.value;
  const unknown = Object.keys(user).find((key) => !USER_FIELDS.includes(key));
  if (unknown !== undefined) return fail(`user has a field "${unknown}", expected ${USER_FIELDS.join(', ')}`);
  for (const field of USER_TEXTS) {
    const text = user[field];
    if (text === undefined) continue;
    if (typeof text !== 'string') return fail(`user.${field} is not text, expected text in quotes`);
    user[field] = text.trim();
    if (user[field] === '') delete user[field];
  }
  const fault = findPropertyFault(user.additionalProperties);
  if (fault !== undefined) return fail(fault);
  return Object.keys(user).length === 0 ? fail('user is empty') : { ok: true, value: user };
}

/** Contract: "every entry must have both a key and a value". */
function findPropertyFault(properties: unknown): string | undefined {
  if (properties === undefined) return undefined;
  if (!Array.isArray(properties)) return 'user.additionalProperties is not a list';
  if (properties.length > MAX_ADDITIONAL_PROPERTIES) {
    return `user.additionalProperties has ${properties.length} entries, expected at most ${MAX_ADDITIONAL_PROPERTIES}`;
  }
  for (const [index, entry] of properties.entries()) {
    const isWhole = isObject(entry) && isFilled(entry.key) && isFilled(entry.value);
    if (!isWhole) return `user.additionalProperties[${index}] needs both a key and a value`;
  }
  return undefined;
}

/** Reads a history as the contract has it ("History object"); attachments and cards go along as they are. */
export function parseHistory(text: string): Parsed<NonNullable<ConversationRequest['history']>> {
  const parsed = parseObject(text, 'history', (messages) => ({ messages }));
  if (!parsed.ok) return parsed;
  const history = parsed.value;
  const { messages } = history;
  if (!Array.isArray(messages)) return fail('history has no list of messages');
  if (messages.length > MAX_HISTORY_MESSAGES) {
    return fail(`history has ${messages.length} messages, expected at most ${MAX_HISTORY_MESSAGES}`);
  }
  for (const [index, message] of messages.entries()) {
    const fault = findMessageFault(message);
    if (fault !== undefined) return fail(`history.messages[${index}] ${fault}`);
  }
  return { ok: true, value: { ...history, messages } };
}

function findMessageFault(message: unknown): string | undefined {
  if (!isObject(message)) return 'is not an object';
  if (message.authorType !== 'user' && message.authorType !== 'bot') return 'has an authorType other than user or bot';
  const hasMore = message.attachments !== undefined || message.cards !== undefined;
  if (message.text === undefined && hasMore) return undefined;
  return isFilled(message.text) ? undefined : 'has no text';
}

/** `ofList` wraps a bare list, where one is allowed. */
function parseObject(
  text: string,
  name: string,
  ofList?: (list: readonly unknown[]) => Record<string, unknown>,
): Parsed<Record<string, unknown>> {
  if (text.trim() === '') return fail(`The ${name} is missing`);
  try {
    const written: unknown = JSON.parse(text);
    const value = Array.isArray(written) ? ofList?.(written) : written;
    if (isObject(value)) {
      return { ok: true, value: Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) };
    }
  } catch {
    // Reported below, without content of the row.
  }
  return fail(`${name} is not a JSON object`);
}

function fail(fault: string): { readonly ok: false; readonly fault: string } {
  return { ok: false, fault };
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
