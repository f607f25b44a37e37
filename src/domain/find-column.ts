/** Where a column stands that a job names; `folded`: the name matches only without case and punctuation. Undefined where there is none. */
export type FindColumn = (
  columns: readonly string[],
  wanted: string,
) => { readonly index: number; readonly how?: 'exact' | 'folded' } | undefined;

/** How names of columns are compared: letters, marks and digits only, lower case; full-width forms as the plain ones. */
export function foldName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
}
