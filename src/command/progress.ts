import { format, formatSeconds, listNonZero } from '../domain/count-of.js';
import { cutText } from '../domain/text.js';
import type { Log } from '../ports/log.js';
import type { Progress } from '../run/run-deps.js';
import type { Terminal } from './terminal.js';

const LOG_EVERY_MS = 10_000;

/** Shows the progress of a run: a bar on a terminal that can erase one, a log line every ten seconds elsewhere. */
export function createProgressView(terminal: Terminal, log: Log): ReturnType<typeof createLines> {
  return terminal.isStderrTerminal && terminal.env.TERM !== 'dumb' ? createBar(terminal) : createLines(log);
}

function createLines(log: Log) {
  let lastAt = Date.now();
  const isDue = () => {
    if (Date.now() - lastAt < LOG_EVERY_MS) return false;
    lastAt = Date.now();
    return true;
  };
  return {
    planned: ({ step, rows }: { step: number; rows: number }): void => {
      if (isDue()) log.info('planning', { step, rows });
    },
    sent: (progress: Progress): void => {
      if (isDue()) log.info('sending', { ...progress });
    },
    close: () => {},
  };
}

const DRAW_EVERY_MS = 100;

function createBar({ screen, showBelow = () => {} }: Terminal): ReturnType<typeof createLines> {
  let shown: Progress | undefined;
  let startedAt = 0;
  let settledBefore = 0;
  let drawing: NodeJS.Timeout | undefined;
  const draw = () => {
    if (shown === undefined) return;
    const seconds = (Date.now() - startedAt) / 1000;
    const speed = seconds > 0 ? (shown.settled - settledBefore) / seconds : 0;
    const secondsLeft = speed > 0 ? Math.ceil((shown.rows - shown.settled) / speed) : undefined;
    showBelow(formatProgress(shown, { rowsPerSecond: Math.round(speed), secondsLeft }, screen?.columns ?? 80));
  };
  return {
    planned: () => {},
    sent: (progress) => {
      if (shown?.step !== progress.step) {
        startedAt = Date.now();
        settledBefore = progress.settled;
      }
      shown = progress;
      if (drawing === undefined) draw();
      drawing ??= setInterval(draw, DRAW_EVERY_MS).unref();
    },
    // The bar is removed; the account at the end stays.
    close: () => {
      if (drawing === undefined) return;
      clearInterval(drawing);
      drawing = undefined;
      showBelow('');
    },
  };
}

const BAR_COLUMNS = 20;

/** One line that is narrower than the terminal; what matters most comes first. */
export function formatProgress(
  progress: Progress,
  { rowsPerSecond, secondsLeft }: { rowsPerSecond: number; secondsLeft: number | undefined },
  columns: number,
): string {
  const { step, kind, rows, settled, accepted, rejected, inDoubt } = progress;
  const share = rows === 0 ? 1 : Math.min(1, settled / rows);
  const bar = '█'.repeat(Math.round(share * BAR_COLUMNS)).padEnd(BAR_COLUMNS, '░');
  const parts = [
    `${format(settled)} of ${format(rows)}`,
    ...(secondsLeft === undefined ? [] : [`${formatSeconds(secondsLeft)} left`]),
    `${format(rowsPerSecond)}/s`,
    ...listNonZero({ rejected, 'in doubt': inDoubt }),
    `${format(accepted)} accepted`,
  ];
  // One column less than there are: a line that fills its row makes some terminals begin another.
  return cutText(`${step} ${kind} ${Math.floor(share * 100)} % ${bar} ${parts.join(' · ')}`, columns - 1);
}
