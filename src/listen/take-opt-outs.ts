import { resolve } from 'node:path';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import type { OptOut } from '../domain/person.js';
import { maskAddress } from '../normalize/mask.js';
import { normalizeNumber } from '../normalize/number/number.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Files } from '../storage/files.js';
import type { ListenerOptions } from './listener.js';
import { namedByEvent, OptOutFile } from './opt-out-file.js';

/** Takes down who opts out, and in again, by what they write; no one is answered. Undefined where it is not asked for. */
export async function takeOptOuts(
  {
    optOuts,
    words,
    inWords = [],
  }: { optOuts: string | undefined; words: readonly string[] | undefined; inWords: readonly string[] | undefined },
  { files, clock, log }: { files: Files; clock: Clock; log: Log },
) {
  if (optOuts === undefined) {
    if (words === undefined && inWords.length === 0) return undefined;
    throw new UserError(
      'bad-flag',
      'Cannot listen for words: --opt-outs is not given, expected the list that gets a line for each',
    );
  }
  const file = resolve(optOuts);
  const readWord = createWordReader({ out: words ?? OPT_OUT_WORDS, in: inWords });
  let onFailure: (error: Error) => void = () => {};
  const failed = new Promise<Error>((settle) => {
    onFailure = settle;
  });
  const onReplaced = (lost: number) =>
    log.warn(`${file} was saved without ${countOf(lost, 'number')} that opted out: no longer on the list`, { lost });
  const list = await OptOutFile.open(file, { files, onFailure, onReplaced });
  const counts = { out: 0, in: 0, notTakenDown: 0 };
  const onArrived: ListenerOptions['onArrived'] = async ({ message }) => {
    const said = message && readWord(message.text);
    if (message === undefined || said === undefined) return;
    const { source, at = new Date(clock.now()).toISOString(), id } = message;
    const number = readSender(source);
    if (number === undefined) {
      counts.notTakenDown += 1;
      log.warn(`${said.word} from ${maskAddress(source)} was not taken down: its sender cannot be read`, { id });
      return;
    }
    if ((await list.add({ number, ...said, at, by: namedByEvent(id) })) === 'written') counts[said.what] += 1;
  };
  return {
    /** Resolves with what ended the writing of the list, if anything does. */
    failed,
    onArrived,
    /** What was taken down, for machines and for a person. */
    get json() {
      return { optOuts: { file, ...counts } };
    },
    get said() {
      const none = counts.notTakenDown === 0 ? '' : `, ${counts.notTakenDown} not taken down: sender not readable`;
      return `, ${counts.out} opted out, ${counts.in} opted in${none}`;
    },
    close: () => list.close(),
  };
}

/** E.164 of a sender: the service writes numbers without +. Undefined where it is a name, a short code, or of no country. */
function readSender(source: string): string | undefined {
  const bare = source.trim().replace(/^tel:/i, '');
  const number = normalizeNumber(/^\+|^00/.test(bare) ? bare.replace(/^00/, '+') : `+${bare}`, undefined);
  return number.ok ? number.e164 : undefined;
}

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
