import type { UserError } from '../../domain/errors.js';
import { quoteWord } from '../../domain/errors.js';
import { type InputFile, placeInJob } from '../inputs.js';
import { refuse } from '../refusal.js';
import type { Sheet } from './workbook.js';

export interface ChosenSheet {
  readonly sheet: Sheet;
  readonly notices: readonly string[];
}

/**
 * The sheet to be read: the one that the job names, else the only one with rows among those that are not hidden. Refuses
 * where that leaves a choice, with the names.
 */
export async function chooseSheet(
  sheets: readonly Sheet[],
  stated: string | undefined,
  { shown, key, hasRows }: Pick<InputFile, 'shown' | 'key'> & { hasRows: (sheet: Sheet) => Promise<boolean> },
): Promise<ChosenSheet> {
  if (stated !== undefined) {
    const fold = (name: string) => name.trim().toLowerCase();
    const sheet = sheets.find(({ name }) => name === stated) ?? sheets.find(({ name }) => fold(name) === fold(stated));
    if (sheet !== undefined) return { sheet, notices: sheets.length === 1 ? [] : [describe(sheet)] };
    const message = `it has no sheet ${JSON.stringify(stated)}, expected one of ${listNames(sheets)}`;
    throw refuse({ where: shown, message, hint: `Correct \`sheet\` ${placeInJob({ key })}.` });
  }
  const filled: Sheet[] = [];
  for (const sheet of sheets) if (await hasRows(sheet)) filled.push(sheet);
  const visible = filled.filter(({ isHidden }) => !isHidden);
  const [sheet, ...others] = visible;
  if (sheet === undefined || others.length > 0) throw refuseChoice({ shown, key }, visible, filled);
  const unread = filled.filter((each) => each !== sheet);
  const ignored = unread.map(({ name }) => `the hidden sheet ${JSON.stringify(name)} is not read`);
  return { sheet, notices: sheets.length === 1 ? [] : [describe(sheet), ...ignored] };
}

function describe({ name }: Sheet): string {
  return `the sheet is ${JSON.stringify(name)}`;
}

function refuseChoice(
  place: Pick<InputFile, 'shown' | 'key'>,
  visible: readonly Sheet[],
  filled: readonly Sheet[],
): UserError {
  const { shown } = place;
  const [first] = filled;
  if (first === undefined) {
    return refuse({ where: shown, message: 'no sheet holds anything, expected at least a header' });
  }
  const found =
    visible.length === 0
      ? `only hidden sheets hold rows: ${listNames(filled)}`
      : `${visible.length} sheets hold rows: ${listNames(visible)}`;
  const listed = visible[0] ?? first;
  const name = JSON.stringify(listed.name);
  const hint = `Say which one is meant: \`sheet: ${name}\` ${placeInJob(place)}; for volley init, --sheet ${quoteWord(listed.name)}.`;
  return refuse({ where: shown, message: `${found}, expected one`, hint });
}

function listNames(sheets: readonly Sheet[]): string {
  return sheets.map(({ name }) => JSON.stringify(name)).join(', ');
}
