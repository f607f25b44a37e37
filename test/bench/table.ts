/** A table in Markdown, as the README of this folder holds them. */
export function printTable(title: string, header: readonly string[], rows: readonly (readonly string[])[]): void {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const body = rows.map(line).join('');
  process.stdout.write(`\n### ${title}\n\n${line(header)}${line(header.map(() => '---'))}${body}`);
}

export function format(value: number, digits = 2): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

export function formatMb(value: number | undefined): string {
  return value === undefined ? '' : `${format(value, 0)} MB`;
}
