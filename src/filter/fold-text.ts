import { isBlank } from '../template/blank.js';

const ASCII = /^[\0-\x7f]*$/;

/** How texts are compared: without the blanks around them (the invisible ones too) and without case. Composed and decomposed letters are the same. */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.trim().toLowerCase();
  // By way of capitals, ß is ss, and the two small sigmas are one.
  return trimBlanks(text).normalize('NFC').toUpperCase().toLowerCase();
}

function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}
