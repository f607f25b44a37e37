import { MAX_GROUPS } from '../domain/contact-fields.js';
import type { RejectionCode } from '../domain/row-codes.js';

export type GroupsResult =
  | { readonly ok: true; readonly ids: readonly number[] }
  | { readonly ok: false; readonly code: RejectionCode; readonly reason: string };

/**
 * The groups of a row: those of the step, then those that its cell adds, each once. In the cell ids are split by `;`
 * or `,`, or stand in a JSON array, as NDJSON has it. Refuses invalid ids, and more groups than a contact may join.
 */
export function readGroups(text: string, ofStep: readonly number[]): GroupsResult {
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
    return { ok: false, code: 'bad-group', reason: `${which}, expected whole numbers such as 1042; 1043.` };
  }
  const all = [...new Set([...ofStep, ...ids])];
  if (all.length <= MAX_GROUPS) return { ok: true, ids: all };
  const shared = ofStep.length === 0 ? '' : `, of which ${ofStep.length} come from the job`;
  return {
    ok: false,
    code: 'too-many-groups',
    reason: `The row names ${all.length} groups${shared}, at most ${MAX_GROUPS} are allowed.`,
  };
}
