import { createCipheriv, createDecipheriv, createHmac, type DecipherGCM, randomBytes } from 'node:crypto';
import { closing, discarding } from '../domain/closing.js';
import type { SeenText } from '../kinds/sms/sms-texts.js';
import type { Files, ReadFile } from '../storage/files.js';

/**
 * Who got what in one run: `<memory>/_people/<id of the plan>-<how it began>.people`, written whole, never edited.
 *
 *   8f0a3c… {"format":1,"plan":"k3v9q2m8x4aa","begun":"5f1c03be9d22","directory":"/…","job":"autumn-sale","account":"https://… acme_hq","group":"","sentAt":1795381271678,"isOver":true,"records":447,"nonce":"…"}\n
 *   16 bytes a planned row, AES-256-GCM under the key of the memory, with the line above as associated data
 *   16 bytes: the tag
 *
 * The line begins with its HMAC-SHA256, so that it can be believed without the rows. A record: E.164 digits (double), CRC-32 of sender and text, state (a letter), three bytes that are 0; little endian. It is encrypted,
 * as digests of numbers are reversed in minutes, and no time is taken for one digest a row.
 */
export interface PeopleHead {
  readonly format: typeof FORMAT;
  /** Its id. Plans of one job in two directories have the same. */
  readonly plan: string;
  /** A digest of how its journal begins (`markOf`): which run of the plan. */
  readonly begun: string;
  /** Where it was when this was written. */
  readonly directory: string;
  readonly job: string;
  /** As requests name it (`accountOf`). */
  readonly account: string;
  /** `frequency.group` of the job; '' without one. */
  readonly group: string;
  /** When it last sent, in milliseconds since 1970. */
  readonly sentAt: number;
  /** Nothing more of the run is sent. */
  readonly isOver: boolean;
  readonly records: number;
}

/** What became of the message. The last two count for nothing; what is yet to be sent will be. */
const PERSON_STATES = ['to-send', 'accepted', 'in-doubt', 'rejected', 'not-sent'] as const;
export type PersonState = (typeof PERSON_STATES)[number];
export type CountedState = Exclude<PersonState, 'rejected' | 'not-sent'>;

export const PERSON_WORDS: Readonly<Record<PersonState, string>> = {
  'to-send': 'to be sent, its run is not finished',
  accepted: 'accepted',
  'in-doubt': 'in doubt: it may have been sent',
  rejected: 'rejected',
  'not-sent': 'not sent',
};

const FORMAT = 1;
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const RECORD_BYTES = 16;
const TEXT_AT = 8;
const STATE_AT = 12;
const HMAC_DIGITS = 64;
/** A multiple of a record. */
const CHUNK_BYTES = 1 << 18;
/** A path may have 4096. */
const MAX_HEAD_BYTES = 1 << 15;

/** Hands over the records of a file in their order, as `encodePeople` gives them; false where they are not all there. */
export type Fill = (write: (records: Buffer) => Promise<void>) => Promise<boolean>;

/** Writes the file of a run whole, or leaves it as it was: false where its records are not all there. `key`: 32 bytes. */
export async function writePeople(
  files: Files,
  path: string,
  { head, key, fill }: { head: Omit<PeopleHead, 'format'>; key: Buffer; fill: Fill },
): Promise<boolean> {
  const nonce = randomBytes(NONCE_BYTES);
  const text = JSON.stringify({ format: FORMAT, ...head, nonce: nonce.toString('hex') });
  const line = Buffer.from(`${authenticate(text, key)} ${text}\n`);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(line);
  await using file = discarding(await files.createWhole(path));
  await file.write(line);
  if (!(await fill((records) => file.write(cipher.update(records))))) return false;
  await file.write(Buffer.concat([cipher.final(), cipher.getAuthTag()]));
  await file.finish();
  return true;
}

/** What became of a message, by its place in the file. */
export type StateOf = (at: number, number: number, text: number) => PersonState;

/** The records of messages; `from`: the place of the first of them in the file. */
export function encodePeople(messages: readonly SeenText[], from: number, stateOf: StateOf): Buffer {
  const bytes = Buffer.alloc(messages.length * RECORD_BYTES);
  for (const [index, { number, text }] of messages.entries()) {
    const at = index * RECORD_BYTES;
    bytes.writeDoubleLE(number, at);
    bytes.writeUInt32LE(text, at + TEXT_AT);
    bytes[at + STATE_AT] = PERSON_STATES.indexOf(stateOf(from + index, number, text));
  }
  return bytes;
}

/** The records of a file with other states: far quicker than from the plan. */
export function fillAgain(files: Files, path: string, { key, stateOf }: { key: Buffer; stateOf: StateOf }): Fill {
  return (write) => {
    let place = 0;
    const change = (bytes: Buffer) => {
      for (let at = 0; at < bytes.length; at += RECORD_BYTES) {
        const state = stateOf(place, bytes.readDoubleLE(at), bytes.readUInt32LE(at + TEXT_AT));
        bytes[at + STATE_AT] = PERSON_STATES.indexOf(state);
        place += 1;
      }
      return write(bytes);
    };
    return readRecords(files, path, key, change);
  };
}

function authenticate(head: string, key: Buffer): string {
  return createHmac('sha256', key).update(head).digest('hex');
}

/** The head of a file; undefined where it is not what was written under the key. */
export async function readPeopleHead(files: Files, path: string, key: Buffer): Promise<PeopleHead | undefined> {
  await using file = closing(await files.openRead(path));
  return (await readHead(file, key))?.head;
}

/**
 * Calls `add` for each record, in the order of the plan. False where the file is not, bit for bit, what was written under the key: what was
 * added until then counts for nothing.
 */
export function readPeople(
  files: Files,
  path: string,
  { key, add }: { key: Buffer; add: (number: number, text: number, state: PersonState) => void },
): Promise<boolean> {
  return readRecords(files, path, key, (bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let from = 0; from < bytes.length; from += RECORD_BYTES) {
      const state = PERSON_STATES[view.getUint8(from + STATE_AT)] ?? 'to-send';
      add(view.getFloat64(from, true), view.getUint32(from + TEXT_AT, true), state);
    }
  });
}

/** Hands the records to `take` in pieces, which it may change. */
async function readRecords(
  files: Files,
  path: string,
  key: Buffer,
  take: (bytes: Buffer) => Promise<void> | void,
): Promise<boolean> {
  await using file = closing(await files.openRead(path));
  const found = await readHead(file, key);
  if (found === undefined) return false;
  const { head, line, nonce } = found;
  const end = line.length + head.records * RECORD_BYTES;
  if (file.bytes !== end + TAG_BYTES) return false;
  const decipher = createDecipheriv(CIPHER, key, nonce).setAAD(line);
  for (let at = line.length; at < end; at += CHUNK_BYTES)
    await take(decipher.update(await file.read(at, Math.min(CHUNK_BYTES, end - at))));
  return isAuthentic(decipher, await file.read(end, TAG_BYTES));
}

function isAuthentic(decipher: DecipherGCM, tag: Buffer): boolean {
  try {
    decipher.setAuthTag(tag);
    decipher.final();
    return true;
  } catch {
    return false;
  }
}

async function readHead(
  file: ReadFile,
  key: Buffer,
): Promise<{ head: PeopleHead; line: Buffer; nonce: Buffer } | undefined> {
  const start = await file.read(0, MAX_HEAD_BYTES);
  const line = Buffer.from(start.subarray(0, start.indexOf('\n') + 1));
  const text = line.toString('utf8', HMAC_DIGITS + 1, line.length - 1);
  if (line.toString('latin1', 0, HMAC_DIGITS) !== authenticate(text, key)) return undefined;
  const head: PeopleHead & { nonce: string } = JSON.parse(text);
  return head.format === FORMAT ? { head, line, nonce: Buffer.from(head.nonce, 'hex') } : undefined;
}
