import { isObject } from '../../domain/is-object.js';
import { isAnotherNumber, readNamedNumber } from './named-number.js';

/** Fields that the service keeps as sent, beside the addresses. */
const TEXTS = ['externalId', 'firstName', 'lastName'] as const;

/**
 * Why an answer contradicts the contact that was sent; undefined if it does not. A created contact has exactly what
 * was sent; a merged one shares an address, and may keep its own names.
 */
export function findContradiction(sent: unknown, answer: unknown, isNew: boolean): string | undefined {
  if (!isObject(sent) || !isObject(answer)) return undefined;
  const told = compareAddresses(sent.addresses, answer.addresses);
  if (told.length > 0 && told.every((each) => each === 'other' || each === 'not-sent')) {
    return 'the answer names a contact with none of the addresses sent';
  }
  if (!isNew) return undefined;
  if (told.includes('other')) return 'the answer names an address other than the one that was sent';
  const text = TEXTS.find((field) => isAnotherText(answer[field], sent[field]));
  return text === undefined ? undefined : `the answer names a ${text} other than the one that was sent`;
}

type Compared = 'same' | 'other' | 'not-sent' | 'masked';

/** What each address of the answer is. */
function compareAddresses(sent: unknown, answer: unknown): Compared[] {
  if (!isObject(sent) || !isObject(answer)) return [];
  return Object.entries(answer).flatMap(([channel, named]) =>
    typeof named === 'string' && named.trim() !== '' ? [compareAddress(channel, named, sent[channel])] : [],
  );
}

function compareAddress(channel: string, named: string, sent: unknown): Compared {
  if (sent === undefined) return 'not-sent';
  if (channel !== 'msisdn') return isAnotherText(named, sent) ? 'other' : 'same';
  if (readNamedNumber(named) === undefined) return 'masked';
  return isAnotherNumber(named, sent) ? 'other' : 'same';
}

/** Case and blanks aside, which a service may change. */
function isAnotherText(named: unknown, sent: unknown): boolean {
  if (typeof named !== 'string' || typeof sent !== 'string' || named.trim() === '') return false;
  return fold(named) !== fold(sent);
}

function fold(text: string): string {
  return text.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();
}
