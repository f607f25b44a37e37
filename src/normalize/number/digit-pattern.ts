/** A pattern of the phone metadata for digits, which are values and not characters. */
export interface DigitPattern {
  readonly test: (text: string) => boolean;
  /** Whether it matches the digits from `from` to `to`, all of them. */
  matches(digits: Uint8Array, from: number, to: number): boolean;
  /** How many digits it can match at the start: the fewest, and whether it could match more of them as well. Undefined: none. */
  matchStart(digits: Uint8Array, from: number, to: number): { length: number; isOnly: boolean } | undefined;
}

const DIGIT_0 = 48;

/** The metadata's own RegExp syntax; without groups that capture. */
export function parseDigitPattern(source: string): DigitPattern {
  const whole = new RegExp(`^(?:${source})$`);
  return createPattern((text) => whole.test(text), new RegExp(`^(?:${source})`));
}

export function either(patterns: readonly DigitPattern[]): DigitPattern {
  return createPattern((text) => patterns.some((each) => each.test(text)));
}

export function both(one: DigitPattern, other: DigitPattern): DigitPattern {
  return createPattern((text) => one.test(text) && other.test(text));
}

/** Any digits, of one of these lengths. */
export function anyOfLengths(lengths: readonly number[]): DigitPattern {
  return createPattern((text) => lengths.includes(text.length));
}

/** `start`: matches wherever the start of a text does; absent where the pattern is only asked for whole texts. */
function createPattern(test: DigitPattern['test'], start = /(?!)/): DigitPattern {
  return {
    test,
    matches: (digits, from, to) => test(writeDigits(digits, from, to)),
    matchStart: (digits, from, to) => {
      const text = writeDigits(digits, from, to);
      if (!start.test(text)) return undefined;
      const lengths = Array.from({ length: text.length + 1 }, (_, length) => length);
      const [length, longer] = lengths.filter((length) => test(text.slice(0, length)));
      return length === undefined ? undefined : { length, isOnly: longer === undefined };
    },
  };
}

function writeDigits(digits: Uint8Array, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at += 1) text += String.fromCharCode(DIGIT_0 + (digits[at] as number));
  return text;
}
