import { maskNumbers } from '../normalize/mask.js';

/** Control characters, ends of lines, half characters, and those that turn the direction of what follows. */
const UNSAFE = /[\p{Cc}\p{Cs}\u2028\u2029\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** The service's message for an output: on one line, safe for terminals and spreadsheets, numbers masked. */
export function escapeServiceText(text: string): string {
  return maskNumbers(text).replace(UNSAFE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
