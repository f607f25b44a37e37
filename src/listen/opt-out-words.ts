import { UserError } from '../domain/errors.js';
import type { OptOut } from '../domain/person.js';

/** Words by which people opt out, in the languages of the countries that are written to most. */
export const OPT_OUT_WORDS = [
  ...['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT'],
  ...['ABMELDEN', 'STOPP', 'ARRET', 'ARRÊT', 'BAJA', 'ALTO', 'PARAR', 'SAIR', 'BERHENTI', 'HENTI', 'UNREG'],
  ...['ยกเลิก', 'HUY', '退订', '取消'],
];

/**
 * Compares a whole message with words: case, width, punctuation and blanks do not count, so that `stop.` and `ＳＴＯＰ` are STOP, and
 * `please stop it` is none. Refuses a word that has no letter or digit, or that means both.
 */
export function createWordReader(words: { readonly out: readonly string[]; readonly in: readonly string[] }) {
  const known = new Map<string, Pick<OptOut, 'what' | 'word'>>();
  for (const what of ['out', 'in'] as const) {
    for (const word of words[what]) {
      const folded = fold(word);
      if (folded === '') throw refuseWord(word, 'it has no letter and no digit');
      if ((known.get(folded)?.what ?? what) !== what) throw refuseWord(word, 'it would mean both out and in');
      known.set(folded, { what, word });
    }
  }
  /** What a message says of its sender, and by which word; undefined where it is no such word. */
  return (message: string) => (message.length > LONGEST ? undefined : known.get(fold(message)));
}

/**
 * A word by which a text invites people to opt out: in capitals, or in letters that have none. Undefined where it names no such
 * word.
 */
export function findOptOutWord(text: string): string | undefined {
  const words = new Set(text.split(/[^\p{L}\p{M}]/u));
  return OPT_OUT_WORDS.find((word) => words.has(word) || (word === word.toLowerCase() && text.includes(word)));
}

/** A text of ten SMS has fewer characters. */
const LONGEST = 2000;

/** Upper case first: ß and SS are one then. */
function fold(text: string): string {
  return text
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}]/gu, '');
}

function refuseWord(word: string, why: string): UserError {
  return new UserError(
    'bad-flag',
    `Cannot listen for the word ${JSON.stringify(word)}: ${why}, expected another word`,
    { hint: 'Words are separated by commas: --words STOP,UNSUBSCRIBE --in-words START' },
  );
}
