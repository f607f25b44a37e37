import { posix } from 'node:path';
import { format, getFormatDateInfo, getFormatFromId, getFormatInfo, isDateFormat } from 'numfmt';
import { type Archive, refuseDamaged } from './archive.js';
import { readSmallPart } from './xml-reader.js';

export interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
  /** Name of the part that holds its rows. */
  readonly part: string;
}

/** What a workbook says of its parts. */
export interface Workbook {
  /** Sheets in the order of their tabs; charts and the like are none. */
  readonly sheets: readonly Sheet[];
  readonly sharedTexts: string | undefined;
  readonly styles: string | undefined;
  /** Whether days are counted from 1904. */
  readonly is1904: boolean;
}

export async function readWorkbook(archive: Archive, shown: string): Promise<Workbook> {
  const root = await readRelations(archive, '', shown);
  const part = root.find(({ type }) => type === 'officeDocument')?.target;
  if (part === undefined) throw refuseDamaged(shown, 'it names no workbook');
  const relations = await readRelations(archive, part, shown);
  const byId = new Map(relations.map((relation) => [relation.id, relation]));
  const sheets = new Map<string, Sheet>();
  let is1904 = false;
  await readSmallPart(archive, part, shown, ({ name, attributes }) => {
    if (name === 'workbookPr') is1904 = isTrue(attributes.date1904);
    if (name !== 'sheet') return;
    const relation = byId.get(attributes['r:id'] ?? findId(attributes) ?? '');
    // Each sheet has a part of its own: a small file could name one for 200,000 sheets, and have it read for each.
    if (relation?.type !== 'worksheet' || sheets.has(relation.target)) return;
    const isHidden = attributes.state === 'hidden' || attributes.state === 'veryHidden';
    sheets.set(relation.target, { name: attributes.name ?? '', isHidden, part: relation.target });
  });
  const find = (type: string) => relations.find((relation) => relation.type === type)?.target;
  return { sheets: [...sheets.values()], sharedTexts: find('sharedStrings'), styles: find('styles'), is1904 };
}

interface Relation {
  readonly id: string;
  /** The last word of its address, which has two forms. */
  readonly type: string;
  readonly target: string;
}

/** The relations of a part, '' for those of the file as a whole. */
async function readRelations(archive: Archive, of: string, shown: string): Promise<Relation[]> {
  const { dir, base } = posix.parse(of);
  const relations: Relation[] = [];
  const part = posix.join(dir, '_rels', `${base}.rels`);
  if (!archive.has(part)) throw refuseDamaged(shown, `it lacks its part ${part}`);
  await readSmallPart(archive, part, shown, ({ name, attributes }) => {
    const { Id: id, Type: type, Target: target, TargetMode: mode } = attributes;
    if (name !== 'Relationship' || id === undefined || target === undefined || mode === 'External') return;
    relations.push({ id, type: posix.basename(type ?? ''), target: posix.resolve('/', dir, target).slice(1) });
  });
  return relations;
}

/** The prefix of the id is the producer's choice. */
function findId(attributes: Readonly<Record<string, string>>): string | undefined {
  return Object.entries(attributes).find(([name]) => name.endsWith(':id'))?.[1];
}

export function isTrue(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}

/** Writes the number of a cell, given as it is stored; undefined for what is no number. */
type ShowNumber = (stored: string) => string | undefined;

/** How the numbers of a cell are shown, by the number of its style. */
export type CellFormats = readonly ShowNumber[];

/** The number formats of a workbook; a style that is not there shows numbers in full. */
export async function readCellFormats(archive: Archive, workbook: Workbook, shown: string): Promise<CellFormats> {
  const { styles: part, is1904 } = workbook;
  if (part === undefined || !archive.has(part)) return [];
  const patterns = new Map<string, string>();
  const ids: string[] = [];
  await readSmallPart(archive, part, shown, ({ name, attributes, parent }) => {
    if (name === 'numFmt') patterns.set(attributes.numFmtId ?? '', attributes.formatCode ?? '');
    else if (name === 'xf' && parent?.name === 'cellXfs') ids.push(attributes.numFmtId ?? '0');
  });
  const known = new Map<string, ShowNumber>();
  return ids.map((id) => {
    const show = known.get(id) ?? findFormat(patterns.get(id) ?? builtIn(id), is1904);
    known.set(id, show);
    return show;
  });
}

/** Formats that a workbook does not spell out have numbers below 164. */
function builtIn(id: string): string {
  return Number(id) < 164 ? (getFormatFromId(Number(id)) ?? '') : '';
}

/** Longer ones are not applied: no program writes them. */
const MAX_PATTERN = 255;

function findFormat(pattern: string, is1904: boolean): ShowNumber {
  return pattern === '' || pattern.length > MAX_PATTERN ? writeInFull : showNumbersBy(pattern, is1904);
}

const DAY_SECONDS = 86_400;
const DAY_MS = 86_400_000;
/** The last day of 9999, counted from 1900. */
const LAST_DAY = 2_958_465;
const DAYS_UNTIL_1904 = 1462;

/**
 * How the number of a cell is read under a number format: a date as ISO 8601, any other number as the sheet shows it, but
 * never without some of its digits: in full where the format is General, has an exponent, or hides digits of a whole number.
 */
export function showNumbersBy(pattern: string, is1904: boolean): ShowNumber {
  if (isDateFormat(pattern)) {
    const info = getFormatDateInfo(pattern);
    const parts = { hasDate: info.year || info.month || info.day, hasTime: info.hours || info.minutes || info.seconds };
    const isElapsed = /\[[hms]+\]/i.test(pattern);
    return (stored) => {
      if (isElapsed) return show(pattern, stored);
      return writeDate(Number(stored) + (is1904 ? DAYS_UNTIL_1904 : 0), parts) ?? writeInFull(stored);
    };
  }
  const { type } = getFormatInfo(pattern);
  if (type === 'general' || type === 'scientific' || type === 'text' || type === 'error') return writeInFull;
  return (stored) => show(pattern, stored);
}

function show(pattern: string, stored: string): string | undefined {
  const full = writeInFull(stored);
  if (full === undefined) return undefined;
  const shown = format(pattern, Number(stored), { nbsp: false, throws: false }).trim();
  const isWhole = /^-?\d+$/.test(full);
  const hidesDigits = isWhole && !digitsOf(shown).includes(digitsOf(full));
  return shown === '' || hidesDigits ? full : shown;
}

function digitsOf(text: string): string {
  return text.replace(/\D/g, '');
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const WHOLE = /^-?\d+$/;
/** Such are written in full as they are stored. */
const SHORT_FRACTION = /^-?(?:0|[1-9]\d{0,8})\.\d{0,5}[1-9]$/;

/** All digits, never with an exponent. A fraction has 15 digits at most, as in a spreadsheet: 0.30000000000000004 is 0.3. */
export function writeInFull(stored: string): string | undefined {
  if (WHOLE.test(stored)) return stored.replace(/^(-?)0+(?=\d)/, '$1');
  if (SHORT_FRACTION.test(stored)) return stored;
  if (!DECIMAL.test(stored)) return undefined;
  const value = Number(stored);
  if (!Number.isFinite(value)) return undefined;
  return Number.isSafeInteger(value) ? String(value) : IN_FULL.format(value);
}

const IN_FULL = new Intl.NumberFormat('en-US', { useGrouping: false, maximumSignificantDigits: 15 });

/** `serial`: days since the last day of 1899. Undefined for what no sheet shows as a date. */
function writeDate(serial: number, { hasDate, hasTime }: { hasDate: boolean; hasTime: boolean }): string | undefined {
  if (!(serial >= 0 && serial < LAST_DAY + 1)) return undefined;
  const seconds = Math.round(serial * DAY_SECONDS);
  const time = new Date((seconds % DAY_SECONDS) * 1000).toISOString().slice(11, 19);
  if (!hasDate) return time.endsWith(':00') ? time.slice(0, 5) : time;
  // Without a time in the format, the day is the one that is shown.
  const day = hasTime ? Math.floor(seconds / DAY_SECONDS) : Math.floor(serial);
  const date = writeDay(day);
  return date === undefined || !hasTime ? date : `${date}T${time}`;
}

/** Spreadsheets count a 29 February 1900, which there was not, as day 60. */
function writeDay(day: number): string | undefined {
  if (day < 1 || day > LAST_DAY) return undefined;
  if (day === 60) return '1900-02-29';
  const since1970 = day - 25_569 + (day < 60 ? 1 : 0);
  return new Date(since1970 * DAY_MS).toISOString().slice(0, 10);
}
