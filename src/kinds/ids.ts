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

/** Makes the id of a plan: 12 characters, 60 bits. */
export function planIdOf(identity: string): string {
  return digestText(`volley plan\n${identity}`, 12);
}

/** Makes another id for a plan if the plan that has `id` is abandoned: what is planned anew would get the same one. */
export function planIdInstead(id: string, isAbandoned: (id: string) => boolean): string {
  return isAbandoned(id) ? planIdInstead(planIdOf(`instead of ${id}`), isAbandoned) : id;
}

/**
 * Makes the id of a request: the 20 characters that the service allows, 100 bits, so unique over all runs. A part of a split
 * request has an id of its own; the same part sent again keeps it.
 */
export function clientBatchIdOf(key: { planId: string; step: number; request: number; part: string }): string {
  return digestText(`volley batch\n${key.planId}\n${key.step}\n${key.request}\n${key.part}`, 20);
}

/** Begins every clientMessageId of a step; the number of the planned row (from 0) follows. */
export function messageIdPrefix(planId: string, step: number): string {
  return `${planId}-${step}-`;
}

/** The plan whose message a clientMessageId names; undefined for any other id. */
export function planOfMessage(id: unknown): string | undefined {
  return typeof id === 'string' ? MESSAGE_ID.exec(id)?.[1] : undefined;
}

const MESSAGE_ID = /^([0-9a-hjkmnp-tv-z]{12})-[1-9]\d{0,2}-(?:0|[1-9]\d{0,14})$/;

/** A row of a file, for the step that read it: the same in every plan that has it. */
export interface RowId {
  /** The id of the file, and behind a point when it is sent, where that is not the first time (`fileIdsOf`). */
  readonly file: string;
  /** Its number in the file, from 1. */
  readonly row: number;
}

/** Makes the id of a file as one step of a job reads it: 20 characters, 100 bits; `place`: among the steps of its kind that read it. */
export function fileIdOf(file: { digest: string; kind: string; place: number; occurrence: string }): string {
  return atOccurrence(
    digestText(`volley file\n${file.kind}\n${file.place}\n${file.digest}`, FILE_ID_LENGTH),
    file.occurrence,
  );
}

/** What the ids of a file have in common, whenever it is sent. */
export function atAnyTime(file: string): string {
  return file.slice(0, FILE_ID_LENGTH);
}

/** The id of the same file when it is sent at another time. */
export function atOccurrence(file: string, occurrence: string): string {
  const id = atAnyTime(file);
  return occurrence === '' ? id : `${id}.${occurrence}`;
}

/** Stands for the file in the ids of a test's rows: no row can be planned under such an id. */
export const OF_A_TEST = 'test';

export function formatRowId({ file, row }: RowId): string {
  return `${file}-${row}`;
}

/** Reads what `formatRowId` wrote; undefined for any other text, and for a row of a test. */
export function readRowId(text: string): RowId | undefined {
  const [, file, row] = ROW_ID.exec(text) ?? [];
  return file === undefined ? undefined : { file, row: Number(row) };
}

const FILE_ID_LENGTH = 20;
const ROW_ID = /^([0-9a-hjkmnp-tv-z]{20}(?:\.again-[1-9]\d{0,8}|\.\d{4}-\d\d-\d\d)?)-([1-9]\d{0,14})$/;

/** The planned row that an id names; undefined for anything that is not an id of this step. */
export function readMessageIndex(id: unknown, prefix: string): number | undefined {
  if (typeof id !== 'string' || !id.startsWith(prefix)) return undefined;
  const digits = id.slice(prefix.length);
  return /^(0|[1-9]\d{0,14})$/.test(digits) ? Number(digits) : undefined;
}
