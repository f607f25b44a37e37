import { createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { lineOfText } from './values.js';
import { expected, rule } from './words.js';

const KEY_EXPECTED =
  'an Ed25519 public key: what `openssl pkey -in KEY.pem -pubout` prints, with or without its first and last line';

/** Who may approve a plan of the job, and the keys that their approvals are signed with. */
export const writtenApprovers = z
  .array(
    z
      .strictObject({
        name: lineOfText().describe('Who it is.'),
        publicKey: z
          .string({ error: expected(KEY_EXPECTED) })
          .refine((text) => readPublicKey(text) !== undefined, `expected ${KEY_EXPECTED}`)
          .describe('Ed25519 public key (PEM, or the text between its first and last line).'),
      })
      .describe('A person, and the key of that person.'),
  )
  .min(1)
  .max(50)
  .superRefine(
    rule((approvers) => {
      const isRepeated = (values: readonly string[]) => new Set(values).size < values.length;
      if (isRepeated(approvers.map(({ name }) => foldPerson(name))))
        return 'has a name twice, expected each person once';
      if (isRepeated(approvers.map(({ publicKey }) => spkiOf(publicKey))))
        return 'has a public key twice, expected a key of each person';
      return undefined;
    }),
  )
  .describe('Who may approve a plan: approvals are signed, and count only under one of these keys.');

/** Reads an Ed25519 public key; undefined for any other text. */
export function readPublicKey(text: string): KeyObject | undefined {
  return readEd25519(() => createPublicKey({ key: Buffer.from(spkiOf(text), 'base64'), format: 'der', type: 'spki' }));
}

/** The key that `read` gives, if it is one of Ed25519; undefined where it throws, too. */
export function readEd25519(read: () => KeyObject): KeyObject | undefined {
  try {
    const key = read();
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

/** The base64 of a PEM, in one line. */
function spkiOf(text: string): string {
  return text.replaceAll(/-----(?:BEGIN|END) PUBLIC KEY-----|\s/g, '');
}

/** Two ways to write the name of one person are equal. */
export function foldPerson(name: string): string {
  return name.normalize('NFKC').replaceAll(/\s+/g, ' ').trim().toLowerCase();
}
