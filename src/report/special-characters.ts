import { format, listSaid } from '../domain/count-of.js';
import type { PlannedStep } from '../plan/format/plan-file.js';
import { formatAmount, formatDecimal, formatMoney, readNanos } from '../prices/decimal.js';

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
