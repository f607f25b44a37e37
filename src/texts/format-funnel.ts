import { paint, type Screen } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { wrapText } from '../command/text-width.js';
import { format } from '../domain/count-of.js';
import { wordsOf } from '../domain/row-codes.js';
import type { FunnelStage } from '../plan/format/plan-file.js';

const INDENT = '    ';
const MOST_LISTED = 8;
const MOST_BRIEF = 3;
const SHORT: Readonly<Record<string, string>> = {
  suppressed: 'opt-outs',
  duplicate: 'duplicates',
  rejected: 'rejections',
};

/**
 * How the rows of a step came down to those that are sent: `2,000 read → 1,277 after consent: yes (−723) → 1,230 after
 * opt-outs (−47) → 1,230 to send`; below it what each filter left out, in a brief account the commonest alone. '' where no row was left out.
 */
export function formatFunnel(
  read: number,
  funnel: readonly FunnelStage[] = [],
  { screen, isBrief = false }: { readonly screen: Screen; readonly isBrief?: boolean },
): string {
  if (funnel.every(({ code }) => code === 'rejected')) return '';
  const stages = funnel.map((stage) => `${format(stage.left)} after ${nameStage(stage)} (−${format(stage.omitted)})`);
  const line = [`${format(read)} read`, ...stages, `${format(funnel.at(-1)?.left ?? read)} to send`].join(' → ');
  const below = funnel.flatMap((stage) => describeLeftOut(stage, isBrief ? MOST_BRIEF : MOST_LISTED));
  const warnings = funnel.flatMap(({ warning }) => (warning === undefined ? [] : [`warning: ${warning}`]));
  const wrap = (text: string) => wrapText(escapeText(`${INDENT}${text}`), screen.columns, `${INDENT}    `);
  const lines = [line, ...below.map((text) => `  ${text}`)].flatMap(wrap);
  const warned = warnings.flatMap(wrap).map((text) => paint(screen, 'magenta', text));
  return [...lines, ...warned].map((text) => `${text}\n`).join('');
}

function nameStage({ code, filter }: Pick<FunnelStage, 'code' | 'filter'>): string {
  return filter ?? SHORT[code] ?? wordsOf(code, '').is;
}

/** `consent: yes omits: no 700, blank 23`: so a wrong filter is seen. */
function describeLeftOut({ filter, omitted, values = [] }: FunnelStage, most: number): string[] {
  if (filter === undefined || omitted === 0 || values.length === 0) return [];
  const shown = values.slice(0, most);
  const listed = shown.map(({ value, rows }) => `${value === '' ? 'blank' : value} ${format(rows)}`);
  const others = omitted - shown.reduce((sum, { rows }) => sum + rows, 0);
  return [`${filter} omits: ${[...listed, ...(others > 0 ? [`other ${format(others)}`] : [])].join(', ')}`];
}
