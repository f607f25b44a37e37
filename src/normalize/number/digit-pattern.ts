import { InternalError } from '../../domain/errors.js';

/**
 * A pattern of digits, read one digit after the other: each digit leads to the pattern of what may follow (Brzozowski,
 * Derivatives of Regular Expressions, 1964). Derivatives are computed once and then looked up in a table: at most half
 * the time of a RegExp, without a string. The numbers of all countries need some 15,000 of them.
 */
export class DigitPattern {
  readonly id: number;
  /** Whether the empty text matches. */
  readonly isMatch: boolean;
  /** The alternatives; itself if it is not a choice. */
  readonly choices: readonly DigitPattern[];
  /** The two parts of a sequence; undefined for anything else. */
  readonly parts: readonly [DigitPattern, DigitPattern] | undefined;
  readonly #next: (DigitPattern | undefined)[] = new Array(10);
  readonly #derive: (digit: number) => DigitPattern;

  constructor(id: number, { isMatch, derive, choices, parts }: PatternParts) {
    this.id = id;
    this.isMatch = isMatch;
    this.choices = choices ?? [this];
    this.parts = parts;
    this.#derive = derive;
  }

  /** What may follow the digit. */
  after(digit: number): DigitPattern {
    const next = this.#next[digit];
    if (next !== undefined) return next;
    const derived = this.#derive(digit);
    this.#next[digit] = derived;
    return derived;
  }

  /** Whether it matches the digits (values, not characters) from `from` to `to`, all of them. */
  matches(digits: Uint8Array, from: number, to: number): boolean {
    let rest: DigitPattern = this;
    for (let at = from; at < to; at += 1) {
      rest = rest.after(digits[at] as number);
      if (rest === NOTHING) return false;
    }
    return rest.isMatch;
  }

  /** How many digits it can match at the start: the fewest, and whether it could match more of them as well. Undefined: none. */
  matchStart(digits: Uint8Array, from: number, to: number): { length: number; isOnly: boolean } | undefined {
    let rest: DigitPattern = this;
    let length: number | undefined;
    for (let at = from; ; at += 1) {
      if (rest.isMatch) {
        if (length !== undefined) return { length, isOnly: false };
        length = at - from;
      }
      if (at === to) break;
      rest = rest.after(digits[at] as number);
      if (rest === NOTHING) break;
    }
    return length === undefined ? undefined : { length, isOnly: true };
  }
}

interface PatternParts {
  readonly isMatch: boolean;
  readonly derive: (digit: number) => DigitPattern;
  readonly choices?: readonly DigitPattern[];
  readonly parts?: readonly [DigitPattern, DigitPattern];
}

/** Interned, so that there are finitely many. */
const known = new Map<string, DigitPattern>();

function intern(key: string, parts: PatternParts): DigitPattern {
  const found = known.get(key);
  if (found !== undefined) return found;
  const pattern = new DigitPattern(known.size, parts);
  known.set(key, pattern);
  return pattern;
}

const NOTHING: DigitPattern = intern('nothing', { isMatch: false, derive: () => NOTHING });
const EMPTY = intern('empty', { isMatch: true, derive: () => NOTHING });

/** `mask`: bit n for the digit n. */
function oneOf(mask: number): DigitPattern {
  return intern(`digit ${mask}`, { isMatch: false, derive: (digit) => ((mask >> digit) & 1 ? EMPTY : NOTHING) });
}

function sequence(first: DigitPattern, second: DigitPattern): DigitPattern {
  if (first === NOTHING || second === NOTHING) return NOTHING;
  if (first === EMPTY) return second;
  if (second === EMPTY) return first;
  if (first.parts !== undefined) return sequence(first.parts[0], sequence(first.parts[1], second));
  return intern(`${first.id} ${second.id}`, {
    isMatch: first.isMatch && second.isMatch,
    derive: (digit) => {
      const behind = sequence(first.after(digit), second);
      return first.isMatch ? either([behind, second.after(digit)]) : behind;
    },
    parts: [first, second],
  });
}

export function either(patterns: readonly DigitPattern[]): DigitPattern {
  const byId = new Map(patterns.flatMap(({ choices }) => choices).map((choice) => [choice.id, choice]));
  byId.delete(NOTHING.id);
  const choices = [...byId.values()].sort((a, b) => a.id - b.id);
  const [only = NOTHING] = choices;
  if (choices.length < 2) return only;
  return intern(`or ${choices.map(({ id }) => id)}`, {
    isMatch: choices.some(({ isMatch }) => isMatch),
    derive: (digit) => either(choices.map((choice) => choice.after(digit))),
    choices,
  });
}

export function both(one: DigitPattern, other: DigitPattern): DigitPattern {
  if (one === other) return one;
  if (one === NOTHING || other === NOTHING) return NOTHING;
  if (one.id > other.id) return both(other, one);
  return intern(`and ${one.id} ${other.id}`, {
    isMatch: one.isMatch && other.isMatch,
    derive: (digit) => both(one.after(digit), other.after(digit)),
  });
}

function repeat(pattern: DigitPattern, least: number, most: number): DigitPattern {
  let repeated = EMPTY;
  for (let count = least; count < most; count += 1) repeated = either([EMPTY, sequence(pattern, repeated)]);
  for (let count = 0; count < least; count += 1) repeated = sequence(pattern, repeated);
  return repeated;
}

const ANY = 0b11_1111_1111;

/** Any digits, of one of these lengths. */
export function anyOfLengths(lengths: readonly number[]): DigitPattern {
  return either(lengths.map((length) => repeat(oneOf(ANY), length, length)));
}

/**
 * Parses the RegExp syntax that the library's metadata uses: digits, `\d`, classes, groups, `|`, `?`, `{n}`, `{n,m}`.
 * Throws InternalError for anything else.
 */
export function parseDigitPattern(source: string): DigitPattern {
  const tokens = source.match(/\\d|\[[\d-]+\]|\(\?:|\{\d+(?:,\d+)?\}|./g) ?? [];
  let at = 0;
  const parseChoice = (): DigitPattern => {
    const choices = [parseSequence()];
    while (tokens[at] === '|') {
      at += 1;
      choices.push(parseSequence());
    }
    return either(choices);
  };
  const parseSequence = (): DigitPattern => {
    const parts: DigitPattern[] = [];
    for (let token = tokens[at]; token !== undefined && token !== '|' && token !== ')'; token = tokens[at]) {
      at += 1;
      parts.push(parseCount(token === '(?:' || token === '(' ? parseGroup() : parseDigit(token)));
    }
    return parts.reduceRight((behind, part) => sequence(part, behind), EMPTY);
  };
  const parseGroup = (): DigitPattern => {
    const group = parseChoice();
    if (tokens[at] !== ')') throw refuse(source);
    at += 1;
    return group;
  };
  const parseCount = (pattern: DigitPattern): DigitPattern => {
    const token = tokens[at];
    const counts = token === '?' ? ['0', '1'] : token?.match(/\d+/g);
    if (token === undefined || counts == null || !/^[?{]/.test(token)) return pattern;
    at += 1;
    const [least, most = least] = counts.map(Number);
    return repeat(pattern, least ?? 0, most ?? 0);
  };
  const parseDigit = (token: string): DigitPattern => {
    if (token === '\\d') return oneOf(ANY);
    if (/^\d$/.test(token)) return oneOf(1 << Number(token));
    if (!token.endsWith(']')) throw refuse(source);
    let mask = 0;
    for (const [, first, last = first] of token.matchAll(/(\d)(?:-(\d))?/g))
      for (let digit = Number(first); digit <= Number(last); digit += 1) mask |= 1 << digit;
    return oneOf(mask);
  };
  const pattern = parseChoice();
  if (at < tokens.length) throw refuse(source);
  return pattern;
}

function refuse(source: string): InternalError {
  return new InternalError('unexpected', `Cannot read a pattern of the phone metadata: ${source}`);
}
