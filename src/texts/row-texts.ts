import { paint, type Screen, showPath } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { format } from '../domain/count-of.js';
import { wordsOf } from '../domain/row-codes.js';
import { formatDay } from '../domain/stated-time.js';
import { cutText, wrapText } from '../domain/text-width.js';
import type { FunnelStage, HadFigures, SuppressionInput } from '../plan/format/plan-file.js';
import { countHad } from '../plan/had-lookup.js';
import type { Reason } from '../plan/reasons.js';
import { describeList, warnOfList } from '../plan/suppress/describe-lists.js';
import { formatParagraph, listMost } from './text-lines.js';

/** Why rows are refused or not sent, in a plan and in the account of a run: reasons, the funnel, suppression lists. */

export const COUNT_WIDTH = 7;
const REASON_INDENT = ' '.repeat(COUNT_WIDTH + 2);

/** Each reason in words, with what to do; below it a row as an example, of several steps (`isOnly` is false) below the first alone. Ends with a line break. */
export function formatReasons(reasons: readonly Reason[], screen: Screen, isOnly: boolean): string {
  return reasons.map((reason, at) => `${formatReason(reason, screen, isOnly || at === 0)}\n`).join('');
}

function formatReason({ code, rows, said, example }: Reason, screen: Screen, withExample: boolean): string {
  const width = screen.columns - REASON_INDENT.length;
  const { is, fix } = wordsOf(code, escapeText(said));
  const name = escapeText(code);
  const [first = '', ...others] = wrapText(fix === '' ? `${is} (${name})` : `${is} (${name}): ${fix}`, width);
  const lines = [`${format(rows).padStart(COUNT_WIDTH)}  ${first}`, ...others.map((line) => REASON_INDENT + line)];
  if (!withExample) return lines.join('\n');
  const place = escapeText(`${showPath(screen, example.path)}:${example.line}`);
  const cell = escapeText([example.field, example.value].filter((part) => part !== '').join(' '));
  const row = cell === '' ? place : `${place}  ${cell}`;
  return [...lines, paint(screen, 'dim', REASON_INDENT + cutText(row, width))].join('\n');
}

/** `56 stand twice`, for what is skipped: it needs no example. */
export function formatSkips(skips: Readonly<Record<string, number>>): string {
  return Object.entries(skips)
    .sort((a, b) => b[1] - a[1])
    .map(([code, count]) => `${format(count)} ${escapeText(wordsOf(code, '').is)}`)
    .join(', ');
}

const MOST_RUNS = 2;
const HAD_WORDS = { hold: 'held', skip: 'skipped', send: 'sent again' } as const;

/** `446 had exactly this text from job herbst on 22 November 2026: held.` */
export function describeHad(had: HadFigures | undefined): string {
  if (had === undefined) return '';
  const { rule, runs } = had;
  const rows = countHad(had);
  const froms = runs.map(({ job, at }) => `job ${job} on ${formatDay(Date.parse(at))}`);
  const from = listMost([...new Set(froms)], MOST_RUNS);
  return `${format(rows)} had exactly this text from ${from}: ${HAD_WORDS[rule]}.`;
}

const MOST_VALUES = 5;
const SHORT: Readonly<Record<string, string>> = {
  suppressed: 'opt-outs',
  'opted-out': 'opt-outs of the job',
  duplicate: 'duplicates',
  'had-it-already': 'those who had it already',
  'too-often': 'frequency',
  rejected: 'rejections',
};

/**
 * How the rows of a step came down to those that are sent: `2,000 read → 1,277 after consent: yes (−723) → 1,230 after
 * opt-outs (−47) → 1,230 to send`; below it the commonest that each filter left out. '' where no row was left out.
 */
export function formatFunnel(read: number, funnel: readonly FunnelStage[] | undefined, screen: Screen): string {
  if (funnel === undefined || funnel.every(({ code }) => code === 'rejected')) return '';
  const stages = funnel.map(({ code, filter, left, omitted }) => {
    return `${format(left)} after ${filter ?? SHORT[code] ?? wordsOf(code, '').is} (−${format(omitted)})`;
  });
  const line = [`${format(read)} read`, ...stages, `${format(funnel.at(-1)?.left ?? read)} to send`].join(' → ');
  const warnings = funnel.flatMap(({ warning }) => (warning === undefined ? [] : [`warning: ${warning}`]));
  return [
    formatParagraph(line, screen, { indent: '    ' }),
    ...funnel.flatMap(describeLeftOut).map((text) => formatParagraph(text, screen, { indent: '      ' })),
    ...warnings.map((text) => formatParagraph(text, screen, { indent: '    ', style: 'magenta' })),
  ].join('');
}

/** `consent: yes omits: no 700, blank 23`: so a wrong filter is seen. */
function describeLeftOut({ filter, omitted, values = [] }: FunnelStage): string[] {
  if (filter === undefined || omitted === 0 || values.length === 0) return [];
  const shown = values.slice(0, MOST_VALUES);
  const listed = shown.map(({ value, rows }) => `${value === '' ? 'blank' : value} ${format(rows)}`);
  const others = omitted - shown.reduce((sum, { rows }) => sum + rows, 0);
  return [`${filter} omits: ${[...listed, ...(others > 0 ? [`other ${format(others)}`] : [])].join(', ')}`];
}

/** What each suppression list of a step did, and below it what may be wrong with it; ends with a line break. */
export function formatLists(lists: readonly Omit<SuppressionInput, 'path' | 'sha256'>[], screen: Screen): string {
  const indent = '    ';
  return lists
    .map((list) => {
      const warning = warnOfList(list);
      const warned =
        warning === undefined ? '' : formatParagraph(`warning: ${warning}`, screen, { indent, style: 'magenta' });
      return `${formatParagraph(describeList(list), screen, { indent })}${warned}`;
    })
    .join('');
}
