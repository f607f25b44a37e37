/** How names of columns are compared: letters, marks and digits only, lower case; full-width forms as the plain ones. */
export function foldName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
}
