/**
 * Rows of strings as one JSON text, made by one call: for short rows that takes three quarters of the time that a call for each
 * takes. Between two rows stands an empty string. What is then between them is found nowhere within a row: a quote without a
 * backslash before it opens or closes a string; one that opens stands behind a bracket or behind a quote and a comma, and
 * behind one that closes stands no other.
 */
const BETWEEN = '],"",[';
const END_LENGTH = 2;

/** Of at least one row. */
export function joinJsonRows(rows: readonly (readonly string[])[]): string {
  const parts: (readonly string[] | string)[] = [];
  for (const row of rows) parts.push(row, '');
  parts.pop();
  return JSON.stringify(parts);
}

/** The JSON of each row, without its brackets. */
export function splitJsonRows(json: string): string[] {
  return json.slice(END_LENGTH, -END_LENGTH).split(BETWEEN);
}
