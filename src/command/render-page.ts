import { paint, type Screen, showCommand } from './screen.js';
import { widthOf, wrapText } from './text-width.js';

/**
 * A page of the reference on a terminal: headings in bold, paragraphs wrapped, tables in columns, or row by row where
 * they have no room. Supports only the Markdown that Volley's own pages use: headings, paragraphs, lists, tables,
 * fences; bold, code, links.
 */
export function renderPage(markdown: string, screen: Screen): string {
  return `${splitBlocks(markdown)
    .map((block) => renderBlock(block, screen))
    .join('\n\n')}\n`;
}

/** Lines that belong together, without the blank ones between them; each item of a list is one block with those around it. */
function splitBlocks(markdown: string): string[][] {
  const blocks: string[][] = [[]];
  let isCode = false;
  for (const line of markdown.split('\n')) {
    if (line.trimStart().startsWith('```')) isCode = !isCode;
    if (line === '' && !isCode) blocks.push([]);
    else blocks.at(-1)?.push(line);
  }
  return blocks.filter((lines) => lines.length > 0);
}

function renderBlock(lines: readonly string[], screen: Screen): string {
  const [first = ''] = lines;
  if (first.startsWith('#')) return paint(screen, 'bold', first.replace(/^#+ /, ''));
  if (first.startsWith('|')) return renderTable(lines, screen);
  if (first.trimStart().startsWith('```')) return lines.slice(1, -1).map(indent).join('\n');
  return joinItems(lines)
    .flatMap((item) => wrapText(styleText(item, screen), screen.columns, /^\s*(?:-|\d+\.) /.test(item) ? '  ' : ''))
    .join('\n');
}

function indent(line: string): string {
  return line === '' ? '' : `    ${line}`;
}

/** A paragraph, or the items of a list, each in one line. */
function joinItems(lines: readonly string[]): string[] {
  const items: string[] = [];
  for (const line of lines) {
    const last = items.at(-1);
    if (last === undefined || /^\s*(?:-|\d+\.) /.test(line)) items.push(line);
    else items[items.length - 1] = `${last} ${line.trimStart()}`;
  }
  return items;
}

function styleText(text: string, screen: Screen): string {
  return text
    .replace(
      /\[([^\][]{1,200})\]\(([^)]{1,200})\)/g,
      (_, words: string, target: string) => `${words}${pointTo(target, screen)}`,
    )
    .replace(/\*\*(.+?)\*\*/g, (marked, words: string) => (screen.hasColor ? paint(screen, 'bold', words) : marked))
    .replaceAll('\\|', '|');
}

/** Another page can be shown in the same way; other links show their text. */
function pointTo(target: string, screen: Screen): string {
  const [, page] = /^([\w-]+)\.md(?:#|$)/.exec(target) ?? [];
  return page === undefined ? '' : ` (${showCommand(screen, 'help', page)})`;
}

const GAP = '  ';

function renderTable(lines: readonly string[], screen: Screen): string {
  const [head = [], , ...rows] = lines.map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => styleText(cell.trim(), screen)),
  );
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((cells) => widthOf(cells[at] ?? ''))));
  const width = widths.reduce((sum, each) => sum + each + GAP.length, -GAP.length);
  if (width > screen.columns) return listRows(head, rows, screen);
  const join = (cells: readonly string[]) =>
    cells
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - widthOf(cell)))
      .join(GAP)
      .trimEnd();
  return [paint(screen, 'bold', join(head)), ...rows.map(join)].join('\n');
}

/** Each row on lines of its own: what it is about, and below it what is said, each cell but the last with the name of its column. */
function listRows(head: readonly string[], rows: readonly (readonly string[])[], screen: Screen): string {
  const titles = wrapText(head.join(' · '), screen.columns).map((line) => paint(screen, 'bold', line));
  const lines = rows.flatMap(([name = '', ...cells]) => [
    ...wrapText(`  ${name}`, screen.columns, '  '),
    ...cells.flatMap((cell, at) => {
      const title = at === cells.length - 1 ? '' : `${head[at + 1] ?? ''}: `;
      return cell === '' ? [] : wrapText(`    ${title}${cell}`, screen.columns, '    ');
    }),
  ]);
  return [...titles, ...lines].join('\n');
}
