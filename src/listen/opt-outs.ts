import { dirname, resolve } from 'node:path';
import { closing } from '../domain/closing.js';
import { countOf } from '../domain/count-of.js';
import { InternalError, messageOf, UserError } from '../domain/errors.js';
import { decodeOptOut, encodeOptOut, OPT_OUT_HEADER, type OptOut } from '../domain/opt-out-line.js';
import { maskAddress } from '../normalize/mask.js';
import { normalizeNumber } from '../normalize/number/number.js';
import { personOf } from '../normalize/number/number-set.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import { KeySet, openAppendedFile } from '../storage/appended-file.js';
import type { Files } from '../storage/files.js';
import { splitLines } from '../storage/split-lines.js';
import type { ListenerOptions } from './listener.js';

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
  const list = await openOptOutFile(file, { files, onFailure, onReplaced });
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
    if ((await list.add({ number, ...said, at, by: `${OF_EVENT}${id}` })) === 'written') counts[said.what] += 1;
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

interface ListOptions {
  readonly files: Files;
  readonly onFailure?: (error: Error) => void;
  /** Another file is in the place of the list, and names `lost` people no more who opted out. */
  readonly onReplaced?: (lost: number) => void;
}

/**
 * Opens a list of opt-outs (opt-out-line.ts) to append to it, begun if there is none. Several processes may append to it: each line is one
 * write at the end of the file, and none is ever changed or cut off. A line of an event, by `listen:` and its id, is appended once. Refuses any
 * other file: every number in such a list is out, whatever is appended.
 */
export async function openOptOutFile(path: string, { files, onFailure, onReplaced }: ListOptions) {
  /** When a person last opted out. */
  let outAt = new Map<number, string>();
  const openFile = async () => {
    // Jobs read by its name what is in it.
    if (OF_OTHER_FORMAT.test(path)) throw refuseList(path);
    await files.makeDirectory(dirname(path));
    await files.createExclusive(path, OPT_OUT_HEADER);
    const { known, isTorn, ...found } = await readList(path, files);
    const file = await files.openAppend(path);
    if (file.bytes === 0) await file.append(Buffer.from(OPT_OUT_HEADER));
    // A killed process may have written lines without a sync; as known ones they will be acknowledged.
    await file.sync();
    const lost = [...outAt.keys()].filter((person) => !found.outAt.has(person)).length;
    if (lost > 0) onReplaced?.(lost);
    ({ outAt } = found);
    // A torn line was never acknowledged: it stays, and plans are refused until a person has looked.
    return { file, known, before: isTorn ? '\n' : '' };
  };
  const describeFailure = (cause: unknown) => {
    return new InternalError('write-failed', `Cannot write opt-outs to ${path}: ${messageOf(cause)}`, cause);
  };
  const options = { files, openFile, describeFailure, ...(onFailure === undefined ? {} : { onFailure }) };
  const file = await openAppendedFile(path, options);
  return {
    /**
     * Resolves once the line is durable, now or since earlier; rejects when it cannot be written. A message by which a person opts in
     * counts for nothing where they opted out after it: it may be delivered late.
     */
    add: async (optOut: OptOut): Promise<'written' | 'duplicate' | 'late'> => {
      const { by, what } = optOut;
      const person = personOf(Number(optOut.number));
      const lastOut = outAt.get(person) ?? '';
      if (what === 'in' && isOfEvent(by) && lastOut > optOut.at) return 'late';
      // A person's word counts now, also where the clock that the last line goes by was ahead.
      const at = what === 'in' && lastOut > optOut.at ? lastOut : optOut.at;
      const bytes = Buffer.from(encodeOptOut({ ...optOut, at }));
      const outcome = await file.add({ id: isOfEvent(by) ? by : undefined, bytes });
      if (outcome === 'written' && what === 'out') outAt.set(person, at);
      return outcome;
    },
    close: async () => {
      await file.close(new InternalError('write-failed', 'Cannot write an opt-out: the file is closed'));
    },
  };
}

/** How `by` begins where a message decided; its id follows, which has no character that a cell may not have. */
const OF_EVENT = 'listen:';

function isOfEvent(by: string): boolean {
  return by.startsWith(OF_EVENT);
}

async function readList(path: string, files: Files) {
  const known = new KeySet();
  const outAt = new Map<number, string>();
  await using file = closing(await files.openRead(path));
  // An empty file is one that a person made, or whose process died before it wrote the header.
  if (file.bytes === 0) return { known, outAt, isTorn: false };
  const header = await file.read(0, OPT_OUT_HEADER.length);
  if (header.toString() !== OPT_OUT_HEADER) throw refuseList(path);
  const end = await file.read(file.bytes - 1, 1);
  for await (const { bytes } of splitLines(file)) {
    const line = decodeOptOut(bytes.toString('utf8'));
    if (line?.what === 'out') outAt.set(personOf(Number(line.number)), line.at);
    if (line !== undefined && isOfEvent(line.by)) known.add(line.by);
  }
  return { known, outAt, isTorn: end.toString() !== '\n' };
}

const OF_OTHER_FORMAT = /\.(?:xlsx|xlsm|ndjson|jsonl?|gz)$/i;

function refuseList(path: string): UserError {
  const expected = `expected a CSV that begins with ${OPT_OUT_HEADER.trim()}, or none yet`;
  return new UserError('bad-input', `Cannot append to ${path}: it is not a list that Volley writes, ${expected}`, {
    hint: 'Name another file. `optOuts` of a job may be a directory, in which both lists count.',
  });
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
