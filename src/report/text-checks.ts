import { format, listSaid } from '../domain/count-of.js';
import type { PlannedStep } from '../plan/format/plan-file.js';
import { formatAmount, formatDecimal, formatMoney, readNanos } from '../prices/decimal.js';
import type { Files } from '../storage/files.js';

type Special = Pick<PlannedStep, 'ucs2' | 'ucs2Parts' | 'counts' | 'cost'>;

/**
 * What characters outside GSM-7 do to the messages of a step, as a person pays for it: which, in how many messages, and the
 * price with them and without, or the SMS parts where no prices are known. Undefined where the step has none.
 */
export function describeSpecialCharacters(
  step: Special,
  { currency = '', most }: { currency?: string | undefined; most: number },
): string | undefined {
  const characters = Object.entries(step.ucs2).sort((one, other) => other[1] - one[1]);
  if (characters.length === 0 && step.ucs2Parts === undefined) return undefined;
  const listed = characters.slice(0, most).map(([name, messages]) => `${name} ${format(messages)}`);
  const more = characters.length - listed.length;
  const list = listSaid(...listed, more > 0 && `and ${format(more)} more`).join(', ');
  const effect = compare(step, currency);
  const isOne = characters.length < 2;
  const all = joinNames(characters.map(([name]) => shortenName(name)));
  const what = `special characters: 70 instead of 160 a part${list === '' ? '' : ` for ${list}`}`;
  if (effect === undefined) return `${what}; no message takes more parts`;
  return `${what}; ${all ?? 'they'} ${effect.verb}${isOne ? 's' : ''} the ${effect.figures}`;
}

const MOST_JOINED = 4;

/** `🎉, ’ and –`: what must be gone for the figures; undefined where they are many. */
function joinNames(names: readonly string[]): string | undefined {
  if (names.length > MOST_JOINED) return undefined;
  if (names.length < 2) return names[0] ?? 'encoding: UCS2';
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** What is paid with the special characters, and without them; undefined where that is the same. */
function compare({ ucs2Parts = 0, counts, cost }: Special, currency: string) {
  const verbOf = (all: number, without: number) => {
    const times = [2, 3].find((each) => Math.abs(all / without - each) < 0.05);
    return times === undefined ? 'raise' : times === 2 ? 'double' : 'triple';
  };
  const extra = readNanos(cost?.ucs2.extraCost ?? '0');
  if (cost !== undefined && extra > 0n) {
    const [all, without] = [readNanos(cost.total), readNanos(cost.total) - extra];
    const figures = `price, ${formatAmount(cost.total)} instead of ${formatMoney(formatDecimal(without), currency)}`;
    return { verb: verbOf(Number(all), Number(without)), figures };
  }
  if (ucs2Parts === 0) return undefined;
  const [all, without] = [counts.segments, counts.segments - ucs2Parts];
  return { verb: verbOf(all, without), figures: `parts, ${format(all)} instead of ${format(without)}` };
}

/** `’ (U+2019 RIGHT SINGLE QUOTATION MARK)` is `’`. */
export function shortenName(name: string): string {
  return name.split(' (', 1)[0] ?? name;
}

/** Wraps a disk so that a whole file gets its name only if `check` resolves; the writer rethrows its error. */
export function checkNames(files: Files, check: () => Promise<void>): Files {
  return {
    ...files,
    createWhole: async (path) => {
      const file = await files.createWhole(path);
      return {
        write: (chunk) => file.write(chunk),
        discard: () => file.discard(),
        finish: async () => {
          await check();
          await file.finish();
        },
      };
    },
    writeWhole: async (path, text) => {
      await check();
      await files.writeWhole(path, text);
    },
  };
}

/** Attempts after which the process that appends to the source is still at work, and will write the outputs itself. */
const MOST_ATTEMPTS = 3;

/**
 * Writes files derived from a source that other processes may append to. If it grows during an attempt, no file gets
 * its name, and the attempt is repeated: an older output must not replace a newer one of another process.
 */
export async function writeFromGrowing<T>(
  files: Files,
  source: string,
  attempt: (files: Files) => Promise<T>,
): Promise<T> {
  const readSize = async () => (await files.stat(source))?.bytes;
  // For this call alone; files from two sources need both checks.
  const grown = new Error(`${source} has grown`);
  for (let left = MOST_ATTEMPTS - 1; left > 0; left--) {
    const bytes = await readSize();
    const assertSame = async () => {
      if ((await readSize()) !== bytes) throw grown;
    };
    try {
      const result = await attempt(checkNames(files, assertSame));
      // The source may have grown between the last check and the rename.
      await assertSame();
      return result;
    } catch (error) {
      if (error !== grown) throw error;
    }
  }
  return attempt(files);
}
