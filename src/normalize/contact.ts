import type { RejectionCode } from '../domain/row-codes.js';
import { type ContactField, MAX_GROUPS, maxLengths } from '../domain/service-facts.js';
import { isNestedJson } from '../domain/text.js';
import { normalizeCountry } from './country.js';

interface Refusal {
  readonly code: RejectionCode;
  readonly reason: string;
}

/** A field of a contact, except its number; `text` is trimmed and not blank. */
export function readField(field: ContactField, text: string): { readonly value: string } | Refusal {
  if (field === 'country') {
    const result = normalizeCountry(text);
    return result.ok ? { value: result.country } : { code: 'bad-country', reason: result.reason };
  }
  const maxLength = maxLengths[field];
  if (text.length > maxLength) {
    return {
      code: 'field-too-long',
      reason: `The value has ${text.length} characters, at most ${maxLength} are allowed.`,
    };
  }
  if (isNestedJson(text)) {
    return { code: 'nested-value', reason: 'The value is an object or a list, expected a text.' };
  }
  if (/[\p{Cc}\p{Cs}]/u.test(text)) {
    const reason = 'The value contains a line break, a tab or another control character, or half a character.';
    return { code: 'control-character', reason };
  }
  if (field === 'email' && !isPlausibleEmail(text)) {
    return { code: 'bad-email', reason: 'The value is not an email address, expected one such as name@example.com.' };
  }
  return { value: text };
}

const MAX_LOCAL = 64;
const MAX_LABEL = 63;

/**
 * Whether a text has the form of a personal address: one @, a domain of two labels or more, no blanks, quotes or
 * brackets. Linear in the length of the text. Does not check that the address exists.
 */
export function isPlausibleEmail(text: string): boolean {
  const at = text.indexOf('@');
  const local = text.slice(0, at);
  const labels = text.slice(at + 1).split('.');
  if (at < 1 || local.length > MAX_LOCAL || labels.length < 2) return false;
  if (!/^[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]+$/u.test(local)) return false;
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..')) return false;
  return labels.every(isLabel) && !/^\d+$/.test(labels.at(-1) ?? '');
}

function isLabel(label: string): boolean {
  if (label === '' || label.length > MAX_LABEL || label.startsWith('-') || label.endsWith('-')) return false;
  return /^[\p{L}\p{M}\p{N}-]+$/u.test(label);
}

/**
 * The groups of a row: those of the step, then those that its cell adds, each once. In the cell ids are split by `;`
 * or `,`, or stand in a JSON array, as NDJSON has it. Refuses invalid ids, and more groups than a contact may join.
 */
export function readGroups(text: string, ofStep: readonly number[]): { readonly ids: readonly number[] } | Refusal {
  const inner = /^\[(.*)\]$/s.exec(text)?.[1] ?? text;
  const entries = inner
    .split(/[;,]/)
    .map((entry) => entry.trim().replace(/^"(.*)"$/s, '$1'))
    .filter((entry) => entry !== '');
  const ids = entries.map(Number);
  // An id has no leading zero: `1,042` is one number that a spreadsheet wrote with a comma.
  const wrong = entries.findIndex((entry, at) => !/^[1-9]\d*$/.test(entry) || !Number.isSafeInteger(ids[at]));
  if (wrong !== -1) {
    const which =
      entries.length === 1 ? 'The cell is not the id of a group' : `Entry ${wrong + 1} is not the id of a group`;
    return { code: 'bad-group', reason: `${which}, expected whole numbers such as 1042; 1043.` };
  }
  const all = [...new Set([...ofStep, ...ids])];
  if (all.length <= MAX_GROUPS) return { ids: all };
  const shared = ofStep.length === 0 ? '' : `, of which ${ofStep.length} come from the job`;
  return {
    code: 'too-many-groups',
    reason: `The row names ${all.length} groups${shared}, at most ${MAX_GROUPS} are allowed.`,
  };
}
