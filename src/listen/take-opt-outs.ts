import { resolve } from 'node:path';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { maskAddress } from '../normalize/mask.js';
import { normalizeNumber } from '../normalize/number/number.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Files } from '../storage/files.js';
import type { ListenerOptions } from './listener.js';
import { namedByEvent, OptOutFile } from './opt-out-file.js';
import { createWordReader, OPT_OUT_WORDS } from './opt-out-words.js';

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
