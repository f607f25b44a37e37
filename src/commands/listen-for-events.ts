import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { passDiskErrors, placeDiskErrors } from '../command/disk-error.js';
import { lockDepsOf, nodeEnv } from '../command/env.js';
import { printResult } from '../command/print.js';
import { openRunDirectory } from '../command/run-directory.js';
import { type CommandEnd, type LoggedTerminal, logCommand } from '../command/runner.js';
import { onFirstSignal } from '../command/signals.js';
import { createLog, escapeText, SecretKeeper, type Terminal } from '../command/terminal.js';
import { UserError } from '../domain/errors.js';
import { readSecret } from '../job/secrets.js';
import { assertIsFile } from '../listen/event-file.js';
import { describeCounts, logCounts, type WrittenEvent } from '../listen/intake.js';
import { type OutputLock, startListener } from '../listen/listener.js';
import type { MetricsFlags } from '../observe/metrics-outlets.js';
import { type Plan, RECEIPTS_FILE } from '../plan/format/plan-file.js';
import { systemClock } from '../ports/clock.js';
import { type Log, withFields } from '../ports/log.js';
import { EXIT } from '../report/exit-code.js';
import { joinReceipts } from '../settle/settle-receipts.js';
import { nodeFiles } from '../storage/files.js';
import { acquireLock, readLockOwner } from '../storage/lock.js';
import { describeJoined, ReceiptJoining } from './support/receipt-joining.js';

/** What `openssl rand -base64 12` gives. */
const SHORT_SECRET = 16;

export interface ListenFlags {
  /** 0: any free port. */
  readonly port: number;
  readonly host: string;
  readonly output: string | undefined;
  /** A run directory; events then go to its `receipts.ndjson`, and receipts are joined to the run. */
  readonly run: string | undefined;
  /** Name of the environment variable with the secret. */
  readonly secretEnv: string | undefined;
  readonly secretFile: string | undefined;
  readonly metrics?: MetricsFlags | undefined;
  readonly json: boolean | undefined;
}

/**
 * `volley listen`: webhook events and delivery receipts into a file, until a signal. Its first line on stdout is JSON;
 * the totals follow at the end. A second signal leaves at once: what was acknowledged is in the file. With a run, its
 * deliveries are written and its rows in doubt settled, as receipts come and at the end.
 */
export function listenForEvents(flags: ListenFlags, terminal: Terminal): Promise<number> {
  return logCommand(terminal, { command: 'listen' }, (name) => listenNamed(flags, { terminal, name }));
}

async function listenNamed(flags: ListenFlags, { terminal, name }: LoggedTerminal): Promise<CommandEnd> {
  const { port, host } = flags;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new UserError('bad-flag', `Cannot listen on port ${port}, expected 0 to 65535`);
  }
  const run = await chooseRun(flags);
  const output = chooseOutput(flags, run?.directory);
  const about = run === undefined ? {} : { job: run.plan.job.name, run: run.plan.id };
  name({ output, ...about });
  const secrets = new SecretKeeper();
  const secret = await chooseSecret(flags, terminal, secrets);
  const log = withFields(createLog(terminal, secrets), () => about);
  if (secret !== undefined && secret.length < SHORT_SECRET) {
    log.warn(`the secret has fewer than ${SHORT_SECRET} characters: it may be guessed`);
  }
  const stopping = watchSignals(terminal);
  let metrics: Awaited<ReturnType<typeof openMetrics>>;
  try {
    const placing =
      run === undefined ? passDiskErrors : <T>(task: () => Promise<T>) => placeDiskErrors(dirname(run.directory), task);
    let joining: ReceiptJoining | undefined;
    const onWritten = ({ kind }: WrittenEvent) => {
      if (kind === 'receipt') joining?.noteReceipt();
    };
    const ports = { files: nodeFiles, clock: systemClock, log };
    const lockOutput = () => lockFile(output, log);
    metrics = await openMetrics(flags, log);
    const listener = await placing(() =>
      startListener({ host, port, output, secret, onWritten, lockOutput, ...ports }),
    );
    const { origin, path, counts } = listener;
    metrics?.watch(listener);
    const quiet = new AbortController();
    const logging = logCounts({ clock: systemClock, log, signal: quiet.signal }, counts);
    try {
      if (run !== undefined) joining = startJoining(run, log);
      await terminal.writeStdout(
        `${JSON.stringify({ state: 'listening', exitCode: null, error: null, origin, path, output })}\n`,
      );
      const failure = await Promise.race([stopping.signalled, listener.failed]);
      if (failure !== undefined) {
        log.error(describeCounts(counts), { ...counts });
        throw failure;
      }
    } finally {
      quiet.abort();
      await logging;
      // Joins what became durable only now, too.
      await listener.close().finally(() => joining?.finish());
    }
    const joined = joining?.totals;
    const json = {
      output,
      ...counts,
      ...(joined === undefined ? {} : { run: { directory: run?.directory, ...joined } }),
    };
    const more = joined === undefined ? '' : `${describeJoined(joined)}\n`;
    await printResult(terminal, flags, { json, text: `${describeCounts(counts)}\n  → ${escapeText(output)}\n${more}` });
    name({ ...counts });
    return { exitCode: EXIT.ok, reason: `a signal came; ${describeCounts(counts)}` };
  } finally {
    stopping.end();
    await metrics?.close?.();
  }
}

async function openMetrics({ metrics }: ListenFlags, log: Log) {
  if (metrics === undefined) return undefined;
  const { openListenMetrics } = await import('../observe/listen-metrics.js');
  return openListenMetrics(metrics, log);
}

function watchSignals(terminal: Terminal): { signalled: Promise<void>; end: () => void } {
  let end = () => {};
  const signalled = new Promise<void>((resolve) => {
    end = onFirstSignal(terminal, () => resolve());
  });
  return { signalled, end };
}

function startJoining(run: { directory: string; plan: Plan }, log: Log): ReceiptJoining {
  const deps = lockDepsOf(nodeEnv, log);
  return new ReceiptJoining({ clock: systemClock, log, join: () => joinReceipts(run, deps) });
}

async function chooseRun({ output, run }: ListenFlags): Promise<{ directory: string; plan: Plan } | undefined> {
  if (run === undefined || run === '') return undefined;
  if (output !== undefined && output !== '') {
    throw new UserError('bad-flag', 'Cannot listen: --output and --run are both given, expected one of them', {
      hint: `With --run, receipts are written to ${RECEIPTS_FILE} in the run directory.`,
    });
  }
  return openRunDirectory(run);
}

function chooseOutput({ output }: ListenFlags, runDirectory: string | undefined): string {
  if (runDirectory !== undefined) return join(runDirectory, RECEIPTS_FILE);
  if (output !== undefined && output !== '') return resolve(output);
  throw new UserError(
    'bad-flag',
    'Cannot listen: neither --output nor --run is given, expected the file that events are written to',
  );
}

async function chooseSecret(
  { secretEnv, secretFile }: ListenFlags,
  terminal: Terminal,
  secrets: SecretKeeper,
): Promise<string | undefined> {
  if (secretEnv !== undefined && secretFile !== undefined) {
    throw new UserError(
      'bad-flag',
      'Cannot listen: --secret-env and --secret-file are both given, expected one of them',
    );
  }
  const source =
    secretEnv !== undefined ? { env: secretEnv } : secretFile !== undefined ? { file: resolve(secretFile) } : undefined;
  if (source === undefined) return undefined;
  const deps = { env: terminal.env, readFile: nodeFiles.readText };
  return secrets.keep(await readSecret(source, deps, 'the secret of the listener'));
}

/** Beside the file, links followed, in a directory of its own: one listener at a time, also on a shared volume. */
async function lockFile(output: string, log: Log): Promise<OutputLock> {
  const path = await findRealPath(output);
  const directory = join(dirname(path), `.${basename(path)}.lock`);
  const deps = lockDepsOf(nodeEnv, log);
  try {
    const lock = await acquireLock(deps, directory);
    return {
      assertHeld: () => lock.assertHeld().catch(() => Promise.reject(loseFile(output))),
      release: () => lock.release(),
    };
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'lock-held') throw error;
    const owner = await readLockOwner(deps, directory);
    const who = owner === undefined || owner.pid === 0 ? 'another process' : `process ${owner.pid}`;
    throw new UserError('lock-held', `Cannot listen: ${who} writes to ${output}, expected no other listener on it`, {
      hint: 'Stop that process, or name another file. The lock of a process that died expires within a minute.',
    });
  }
}

/** Creates the file if missing: without it there is no real path, and the name may be a link. */
async function findRealPath(output: string): Promise<string> {
  const found = await nodeFiles.stat(output);
  if (found === undefined) {
    await nodeFiles.makeDirectory(dirname(output));
    await (await nodeFiles.openAppend(output)).close();
  } else assertIsFile(found, output);
  return realpath(output);
}

function loseFile(output: string): UserError {
  return new UserError(
    'lock-held',
    `Cannot continue: this process lost its lock on ${output}, no further event is acknowledged`,
    {
      hint: 'It was paused, or could not write to its disk, for longer than its lock lasts. Run the same command to resume.',
    },
  );
}
