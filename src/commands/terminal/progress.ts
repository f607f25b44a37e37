import type { Log } from '../../ports/log.js';
import type { Progress } from '../../run/run-deps.js';
import { formatProgress } from './progress-line.js';
import type { Terminal } from './terminal.js';

/** Shows the progress of a run: a bar on a terminal, a log line every ten seconds elsewhere. */
export interface ProgressView {
  planned(progress: { step: number; rows: number }): void;
  sent(progress: Progress): void;
  close(): void;
}

const LOG_EVERY_MS = 10_000;

export function createProgressView(terminal: Terminal, log: Log): ProgressView {
  return terminal.isStderrTerminal ? createBar(terminal) : createLines(log);
}

function createLines(log: Log): ProgressView {
  let lastAt = Date.now();
  const isDue = () => {
    if (Date.now() - lastAt < LOG_EVERY_MS) return false;
    lastAt = Date.now();
    return true;
  };
  return {
    planned: ({ step, rows }) => isDue() && log.info('planning', { step, rows }),
    sent: (progress) => isDue() && log.info('sending', { ...progress }),
    close: () => {},
  };
}

const DRAW_EVERY_MS = 100;

function createBar({ screen, showBelow = () => {} }: Terminal): ProgressView {
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
