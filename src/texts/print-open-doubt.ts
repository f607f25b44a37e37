import { PLAIN_SCREEN, type Screen, showCommand, showPath } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { countOf } from '../domain/count-of.js';
import type { OpenDoubt } from '../report/summary.js';

/** More would push the account off the screen; JSON lists them all. */
const MOST_LISTED = 5;

/**
 * The runs of a job that still have rows in doubt, for a person; runs in `besides` have an account of their own. Empty
 * when there are none.
 */
export function formatOpenDoubt(
  { runs }: OpenDoubt,
  besides: readonly string[] = [],
  screen: Screen = PLAIN_SCREEN,
): string {
  const others = runs.filter(({ run }) => !besides.includes(run));
  if (others.length === 0) return '';
  const listed = others.slice(0, MOST_LISTED);
  const more = others.length - listed.length;
  const lines = [
    'Still in doubt (perhaps sent; Volley never sends them again on its own):',
    ...listed.map(
      ({ run, directory, inDoubt }) =>
        `  ${describeRows(inDoubt)} of run ${run}: ${showCommand(screen, 'settle', showPath(screen, directory), '--export', 'messages.csv')}`,
    ),
    ...(more > 0 ? [`  and ${countOf(more, 'more run')}`] : []),
  ];
  return `${lines.map(escapeText).join('\n')}\n`;
}

function describeRows(inDoubt: number | null): string {
  if (inDoubt === null) return 'an unknown number of rows (it cannot be read)';
  return countOf(inDoubt, 'row');
}
