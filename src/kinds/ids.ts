import { createHash } from 'node:crypto';

/** Crockford's alphabet in lower case: no i, l, o, u to be misread. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** `length` characters of 5 bits from the SHA-256 of the text. Pure. */
export function digestText(text: string, length: number): string {
  const bytes = createHash('sha256').update(text).digest();
  let digits = '';
  for (let at = 0; at < length; at++) digits += ALPHABET.charAt((bytes[at] ?? 0) & 31);
  return digits;
}

/** Of a plan: 12 characters, 60 bits. */
export function planIdOf(identity: string): string {
  return digestText(`volley plan\n${identity}`, 12);
}

/** Of a plan in place of one that is abandoned: what is planned anew would get the same id. */
export function planIdInstead(id: string, isAbandoned: (id: string) => boolean): string {
  return isAbandoned(id) ? planIdInstead(planIdOf(`instead of ${id}`), isAbandoned) : id;
}

/**
 * Of a request: the 20 characters that the service allows, 100 bits, so unique over all runs. A part of a split
 * request has an id of its own; the same part sent again keeps it.
 */
export function clientBatchIdOf(key: { planId: string; step: number; request: number; part: string }): string {
  return digestText(`volley batch\n${key.planId}\n${key.step}\n${key.request}\n${key.part}`, 20);
}

/** Begins every clientMessageId of a step; the number of the planned row (from 0) follows. */
export function messageIdPrefix(planId: string, step: number): string {
  return `${planId}-${step}-`;
}

/** Identifies a row of a step: a planned row like its clientMessageId, one that the plan rejected with an `r`, one that `where` left out with an `f`. */
export interface RowId {
  /** The id of its plan. */
  readonly run: string;
  readonly step: number;
  readonly isPlanned: boolean;
  /** `where` left it out; absent for any other. */
  readonly isLeftOut?: true;
  /** Among the rows of the step of which the same holds. */
  readonly index: number;
}

export function formatRowId({ run, step, isPlanned, isLeftOut, index }: RowId): string {
  return `${messageIdPrefix(run, step)}${isLeftOut ? 'f' : isPlanned ? '' : 'r'}${index}`;
}

/** Undefined for anything that `formatRowId` does not write. */
export function readRowId(text: string): RowId | undefined {
  const [, run = '', step, letter, index] = ROW_ID.exec(text) ?? [];
  if (step === undefined) return undefined;
  const row = { run, step: Number(step), isPlanned: letter === '', index: Number(index) };
  return letter === 'f' ? { ...row, isLeftOut: true } : row;
}

const ROW_ID = /^([0-9a-hjkmnp-tv-z]{12})-([1-9]\d?)-([rf]?)(0|[1-9]\d{0,14})$/;

/** The planned row that an id names; undefined for anything that is not an id of this step. */
export function readMessageIndex(id: unknown, prefix: string): number | undefined {
  if (typeof id !== 'string' || !id.startsWith(prefix)) return undefined;
  const digits = id.slice(prefix.length);
  return /^(0|[1-9]\d{0,14})$/.test(digits) ? Number(digits) : undefined;
}
