/** A word of a command as a shell takes it: in quotes where it has a blank or a sign of the shell. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
