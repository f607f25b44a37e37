import { isBlank } from '../template/blank.js';
import { type CompiledTest, NO, YES } from './cell-answer.js';
import { foldText } from './fold-text.js';

const SPACE = 0x20;
const BACKSLASH = 0x5c;
const TWO_BYTES = 0x80;
const CAPITAL_A = 0x41;
const CAPITAL_Z = 0x5a;
const TO_SMALL = 0x20;

/** Whether a text is one of some, or none of them. */
export function compileTextTest({
  op,
  values,
  exact,
}: {
  readonly op: 'equals' | 'not';
  readonly values: readonly string[];
  readonly exact: boolean;
}): CompiledTest {
  const fold = exact ? (text: string) => text : foldText;
  const folded = new Set(values.map(fold));
  const [found, missed] = op === 'equals' ? ([YES, NO] as const) : ([NO, YES] as const);
  const test: CompiledTest = {
    ofText: (text) => {
      if (isBlank(text)) return NO;
      return folded.has(fold(text)) ? found : missed;
    },
    expected: '',
  };
  // A long list is sooner looked up.
  if (exact || folded.size > MOST_COMPARED) return test;
  const candidates = [...folded].map((value) => Buffer.from(value));
  return {
    ...test,
    ofBytes: (bytes, start, end) => {
      let from = start;
      let to = end;
      while (from < to && bytes[from] === SPACE) from += 1;
      while (to > from && bytes[to - 1] === SPACE) to -= 1;
      // Of what is not plain ASCII, blanks and case are for the text to tell.
      for (let at = from; at < to; at += 1) {
        const byte = bytes[at] as number;
        if (byte >= TWO_BYTES || byte === BACKSLASH) return undefined;
      }
      if (from === to) return NO;
      for (const candidate of candidates) if (isSame(bytes, { from, to, candidate })) return found;
      return missed;
    },
  };
}

const MOST_COMPARED = 16;

/** `candidate` is in small letters; letters beyond ASCII are in none of the bytes. */
function isSame(
  bytes: Uint8Array,
  { from, to, candidate }: { readonly from: number; readonly to: number; readonly candidate: Uint8Array },
): boolean {
  if (candidate.length !== to - from) return false;
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number;
    const small = byte >= CAPITAL_A && byte <= CAPITAL_Z ? byte + TO_SMALL : byte;
    if (small !== candidate[at - from]) return false;
  }
  return true;
}
