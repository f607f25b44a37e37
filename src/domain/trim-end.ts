/** A text without the characters at its end that are among `characters`; `/…+$/` would begin anew at each such character inside it. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
