import { refuse } from '../refusal.js';

export type Delimiter = ',' | ';' | '\t' | '|';

const CANDIDATES: readonly Delimiter[] = [',', ';', '\t', '|'];

/** The delimiter of a file, and where its rows begin. */
export interface CsvStart {
  readonly delimiter: Delimiter;
  /** A sentence on what decided it. */
  readonly notice: string;
  /** Bytes of a first line such as `sep=;`, by which spreadsheets know the delimiter; it is no row. */
  readonly skippedBytes: number;
}

/**
 * The delimiter that the job or the first line states (`sep=;`), else the one that stands most often in the header, outside quotes;
 * a comma when the header has a single column. Refuses statements that differ, and a header in which two stand equally often.
 * `head` is the beginning of the file in UTF-8.
 */
export function findCsvStart(head: Buffer, stated: Delimiter | undefined, shown: string): CsvStart {
  const line = readSeparatorLine(head);
  if (line === undefined) {
    if (stated === undefined) return { ...detectDelimiter(head, shown), skippedBytes: 0 };
    return { delimiter: stated, notice: `the delimiter is ${nameDelimiter(stated)}, as stated`, skippedBytes: 0 };
  }
  const delimiter = CANDIDATES.find((candidate) => candidate === line.separator);
  if (delimiter === undefined || (stated !== undefined && stated !== delimiter)) {
    const expected = stated === undefined ? '"," ";" tab or "|"' : `${nameDelimiter(stated)}, as the job states`;
    throw refuse({
      where: `${shown}:1`,
      message: `the first line says that the delimiter is ${JSON.stringify(line.separator)}, expected ${expected}`,
      hint: 'Remove the first line of the file, or state the `delimiter` that the rows have.',
    });
  }
  const notice = `the delimiter is ${nameDelimiter(delimiter)}, as its first line says`;
  return { delimiter, notice, skippedBytes: line.bytes };
}

/** Longer than any `sep=` line. */
const SEPARATOR_LINE_BYTES = 32;

function readSeparatorLine(head: Buffer): { separator: string; bytes: number } | undefined {
  const begin = head.toString('latin1', 0, SEPARATOR_LINE_BYTES);
  const [line, separator] = /^"?sep=([^\w\s"]|\t)"?[,;\t| ]*(?:\r\n|\n|\r|$)/i.exec(begin) ?? [];
  return line === undefined || separator === undefined ? undefined : { separator, bytes: line.length };
}

function detectDelimiter(head: Buffer, shown: string): { delimiter: Delimiter; notice: string } {
  const { header, line } = findHeader(head);
  const countOf = (candidate: Delimiter) => header.split(candidate).length - 1;
  const most = Math.max(...CANDIDATES.map(countOf));
  if (most === 0) return { delimiter: ',', notice: 'the header has one column, so no delimiter was found in it' };
  const [delimiter, other] = CANDIDATES.filter((candidate) => countOf(candidate) === most);
  if (delimiter === undefined || other !== undefined) {
    throw refuse({
      where: `${shown}:${line}`,
      message: `the header has as many ${nameDelimiter(delimiter ?? ',')} as ${nameDelimiter(other ?? ',')}, expected one delimiter`,
      hint: 'State its `delimiter` where the job names the file.',
    });
  }
  return { delimiter, notice: `the delimiter is ${nameDelimiter(delimiter)}, found from the header` };
}

/** Names a delimiter for people: a tab cannot be seen. */
function nameDelimiter(delimiter: Delimiter): string {
  return delimiter === '\t' ? 'tab' : `"${delimiter}"`;
}

const QUOTED = /(?<=^|[,;\t|\r\n])"[^"]*(?:""[^"]*)*"?/g;

/** The first line that is not blank, without what stands in quotes: that may hold delimiters, and carry it over several lines. */
function findHeader(head: Buffer): { header: string; line: number } {
  const shorten = (quoted: string) => (quoted.replaceAll('"', '').trim() === '' ? '' : 'quoted');
  const lines = head
    .toString('utf8')
    .replace(QUOTED, shorten)
    .split(/\r\n|\n|\r/);
  const index = lines.findIndex((line) => line.replace(/[",;\t|]/g, '').trim() !== '');
  return { header: lines[index] ?? '', line: index + 1 };
}
