import type { Log } from '../log.js';
import type { Progress } from '../run/ports.js';
import type { Terminal } from './terminal.js';

/** Shows how far a run is: a bar on a terminal, a log line every ten seconds elsewhere. */
export interface ProgressView {
  planned(progress: { step: number; rows: number }): void;
  sent(progress: Progress): void;
  close(): void;
}

const LOG_EVERY_MS = 10_000;
const FORMAT =
  '{step} {bar} {percentage}% | {value}/{total} rows | {speed}/s | {left} left | {accepted} accepted, {rejected} rejected, {inDoubt} in doubt';

export async function createProgressView(terminal: Terminal, log: Log): Promise<ProgressView> {
  return terminal.isStderrTerminal ? createBar() : createLines(log);
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

async function createBar(): Promise<ProgressView> {
  const { default: cliProgress } = await import('cli-progress');
  let bar: InstanceType<typeof cliProgress.SingleBar> | undefined;
  let step: number | undefined;
  let startedAt = 0;
  let settledBefore = 0;
  return {
    planned: () => {},
    sent: (progress) => {
      if (step !== progress.step || bar === undefined) {
        bar?.stop();
        bar = new cliProgress.SingleBar({ format: FORMAT, hideCursor: true }, cliProgress.Presets.shades_classic);
        step = progress.step;
        startedAt = Date.now();
        settledBefore = progress.settled;
        bar.start(progress.rows, progress.settled, describe(progress, 0));
      }
      const seconds = (Date.now() - startedAt) / 1000;
      const speed = seconds > 0 ? (progress.settled - settledBefore) / seconds : 0;
      bar.update(progress.settled, describe(progress, speed));
    },
    close: () => bar?.stop(),
  };
}

function describe(progress: Progress, speed: number): Record<string, string | number> {
  const seconds = speed > 0 ? Math.ceil((progress.rows - progress.settled) / speed) : undefined;
  return {
    step: `${progress.step}-${progress.kind}`,
    speed: Math.round(speed),
    left: seconds === undefined ? '?' : formatSeconds(seconds),
    accepted: progress.accepted,
    rejected: progress.rejected,
    inDoubt: progress.inDoubt,
  };
}

/** `95` → `1 min 35 s`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
