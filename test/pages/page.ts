import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Absolute path of the checkout, with a slash at its end. */
export const ROOT: string = fileURLToPath(new URL('../../', import.meta.url));

export interface CodeBlock {
  /** What stands behind the fence: `sh`, `yaml`, … */
  readonly language: string;
  readonly text: string;
}

/** A page in Markdown, taken apart. */
export interface Page {
  /** In the checkout: `jobs/reference/input.md`. */
  readonly path: string;
  readonly text: string;
  /** Without its blocks of code. */
  readonly prose: string;
  readonly blocks: readonly CodeBlock[];
  /** What stands between backquotes. */
  readonly spans: readonly string[];
}

const REFERENCE = 'jobs/reference';

/** Pages that `volley help` prints. */
export const REFERENCE_PAGES: readonly string[] = readdirSync(`${ROOT}${REFERENCE}`)
  .toSorted()
  .map((name) => `${REFERENCE}/${name}`);

/** Every page of the project. */
export const ALL_PAGES: readonly string[] = [
  'README.md',
  'CHANGELOG.md',
  'jobs/README.md',
  'jobs/kubernetes/README.md',
  ...REFERENCE_PAGES,
  'samples/README.md',
  'src/README.md',
  'src/sandbox/README.md',
  'test/README.md',
  'test/bench/README.md',
];

export function readPage(path: string): Page {
  const text = readFileSync(`${ROOT}${path}`, 'utf8');
  const fences = [...text.matchAll(/^ *```(\w*)\n(.*?)^ *```$/gms)];
  const blocks = fences.map(([, language = '', block = '']) => ({ language, text: block }));
  const prose = text.replace(/^ *```.*?^ *```$/gms, '');
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);
  return { path, text, prose, blocks, spans };
}

/** What stands under a heading, headings below it included. */
export function readSection({ path, prose }: Page, heading: string): string {
  const level = new RegExp(`^(#+) ${heading}\n`, 'm').exec(prose)?.[1];
  if (level === undefined) throw new Error(`${path} has no heading "${heading}"`);
  const [, rest = ''] = prose.split(new RegExp(`^${level} ${heading}\n`, 'm'));
  return rest.split(new RegExp(`^#{1,${level.length}} `, 'm'))[0] ?? '';
}

export interface Table {
  /** The cells of its first line. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Every table of a text; a bar behind a backslash belongs to its cell. */
export function readTables(text: string): Table[] {
  return [...text.matchAll(/(?:^\|.*\|\n?)+/gm)].map(([table]) => {
    const [head = [], , ...rows] = table.trimEnd().split('\n').map(splitCells);
    return { head, rows };
  });
}

function splitCells(line: string): string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** Every row of every table of a text, heads aside. */
export function readRows(text: string): (readonly string[])[] {
  return readTables(text).flatMap(({ rows }) => rows);
}

/** What stands between backquotes in a cell. */
export function listNames(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}
