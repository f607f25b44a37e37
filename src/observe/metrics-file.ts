import { open, readFile, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Clock } from '../ports/clock.js';

/** How often the file is written. */
export const METRICS_EVERY_MS = 15_000;
/** How long the last write is awaited: a disk that does not answer must not hold a command that has ended. */
const LAST_WRITE_MS = 5_000;
/** Metrics are seldom collected by the user that sends; no figure is about a person. */
const MODE = 0o644;

export interface MetricsFile {
  /** Writes now, and then steadily. */
  begin(): void;
  /** Writes for the last time. */
  finish(): Promise<void>;
  /** Ends without a last write. */
  leave(): void;
}

/**
 * A textfile for the collector of the node exporter. It is replaced as a whole, so that no reader sees a part of it.
 * What fails is reported once by `warn`, and never thrown.
 */
export function createMetricsFile(
  path: string,
  { clock, render, warn }: { clock: Clock; render: () => Promise<string>; warn: (error: unknown) => void },
): MetricsFile {
  const ended = new AbortController();
  let writing: Promise<void> = Promise.resolve();
  let isReported = false;
  const write = () => {
    writing = writing
      .then(async () => replaceFile(path, await render()))
      .catch((error: unknown) => {
        if (!isReported) warn(error);
        isReported = true;
      });
    return writing;
  };
  const writeSteadily = async () => {
    while (!ended.signal.aborted) {
      await write();
      await clock.sleep(METRICS_EVERY_MS, ended.signal);
    }
  };
  return {
    begin: () => void writeSteadily(),
    finish: async () => {
      ended.abort();
      const written = new AbortController();
      const givenUp = clock.sleep(LAST_WRITE_MS, written.signal);
      await Promise.race([write().finally(() => written.abort()), givenUp]);
    },
    leave: () => ended.abort(),
  };
}

/** What the file holds, from an earlier command; '' if it holds nothing that can be read. */
export function readMetricsFile(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

async function replaceFile(path: string, text: string): Promise<void> {
  // The collector reads `*.prom` alone.
  // Processes of two containers may have the same id.
  const part = `${path}.${hostname()}.${process.pid}.part`;
  try {
    const file = await open(part, 'w', MODE);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true }).catch(() => {});
    throw error;
  }
}
