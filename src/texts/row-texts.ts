import { escapeText, formatParagraph, paint, type Screen, showPath } from '../command/screen.js';
import { format, listSaid } from '../domain/count-of.js';
import { cutText, wrapText } from '../domain/text.js';
import type { FunnelStage, SuppressionInput } from '../plan/format/plan-file.js';
import { describeList, type ExplainedReason, listOmitted, nameStage, warnOfList } from '../report/account.js';

const COUNT_WIDTH = 7;
const REASON_INDENT = ' '.repeat(COUNT_WIDTH + 2);

/** Each reason in words, with what to do; below it a row as an example, of several steps (`isOnly` is false) below the first alone. Ends with a line break. */
export function formatReasons(reasons: readonly ExplainedReason[], screen: Screen, isOnly: boolean): string {
  return reasons.map((reason, at) => `${formatReason(reason, screen, isOnly || at === 0)}\n`).join('');
}

function formatReason({ rows, is, fix, example }: ExplainedReason, screen: Screen, withExample: boolean): string {
  const width = screen.columns - REASON_INDENT.length;
  const [first = '', ...others] = wrapText(escapeText(fix === '' ? is : `${is}: ${fix}`), width);
  const lines = [`${format(rows).padStart(COUNT_WIDTH)}  ${first}`, ...others.map((line) => REASON_INDENT + line)];
  if (!withExample || example === undefined) return lines.join('\n');
  const { path, file, line } = example;
  const place = escapeText(`${path === '' ? file : showPath(screen, path)}:${line}`);
  const cell = escapeText([example.field, example.value].filter((part) => part !== '').join(' '));
  const row = cell === '' ? place : `${place}  ${cell}`;
  return [...lines, paint(screen, 'dim', REASON_INDENT + cutText(row, width))].join('\n');
}

/**
 * How the rows of a step came down to those that are sent: `2,000 read → 1,277 after consent: yes (−723) → 1,230 after
 * opt-outs (−47) → 1,230 to send`; below it the commonest that each filter left out. '' where no row was left out.
 */
export function formatFunnel(read: number, funnel: readonly FunnelStage[] | undefined, screen: Screen): string {
  if (funnel === undefined || funnel.every(({ code }) => code === 'rejected')) return '';
  const stages = funnel.map((stage) => {
    return `${format(stage.left)} after ${nameStage(stage)} (−${format(stage.omitted)})`;
  });
  const line = [`${format(read)} read`, ...stages, `${format(funnel.at(-1)?.left ?? read)} to send`].join(' → ');
  const warnings = listSaid(...funnel.map(({ warning }) => warning && `warning: ${warning}`));
  return [
    formatParagraph(line, screen, { indent: '    ' }),
    ...listSaid(...funnel.map(describeLeftOut)).map((text) => formatParagraph(text, screen, { indent: '      ' })),
    ...warnings.map((text) => formatParagraph(text, screen, { indent: '    ', style: 'magenta' })),
  ].join('');
}

/** `consent: yes omits: no 700, blank 23`: so a wrong filter is seen. */
function describeLeftOut(stage: FunnelStage): string | undefined {
  const listed = listOmitted(stage);
  return stage.filter && listed && `${stage.filter} omits: ${listed}`;
}

/** What each suppression list of a step did, and below it what may be wrong with it; ends with a line break. */
export function formatLists(lists: readonly Omit<SuppressionInput, 'path' | 'sha256'>[], screen: Screen): string {
  const indent = '    ';
  return lists
    .map((list) => {
      const warning = warnOfList(list);
      const warned = warning && formatParagraph(`warning: ${warning}`, screen, { indent, style: 'magenta' });
      return `${formatParagraph(describeList(list), screen, { indent })}${warned ?? ''}`;
    })
    .join('');
}

const PHONE_COLUMNS = 72;

/** A message as a phone shows it, in lines beside a bar. `indent`: columns before it. */
export function showOnPhone(text: string, screen: Screen, indent: number): string[] {
  const bar = paint(screen, 'dim', '│');
  const width = Math.min(PHONE_COLUMNS, screen.columns - indent - 3);
  const lines = text.split(/\r\n|[\r\n]/).flatMap((line) => wrapText(escapeText(line), width));
  return lines.map((line) => `${bar} ${line}`);
}
