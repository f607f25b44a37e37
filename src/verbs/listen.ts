import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Context, Result } from '../command/context.js';
import { passDiskErrors, placeDiskErrors } from '../command/disk-error.js';
import { lockDepsOf } from '../command/env.js';
import { keepSecret } from '../command/read-secrets.js';
import { openRunDirectory } from '../command/run-directory.js';
import { onFirstSignal } from '../command/signals.js';
import { escapeText, type Terminal } from '../command/terminal.js';
import { UserError } from '../domain/errors.js';
import { assertIsFile } from '../listen/event-file.js';
import { describeCounts, logCounts } from '../listen/listen-counts.js';
import { type ListenerOptions, type OutputLock, startListener } from '../listen/listener.js';
import type { MetricsFlags } from '../observe/metrics-outlets.js';
import { type Plan, RECEIPTS_FILE } from '../plan/format/plan-file.js';
import { EXIT } from '../report/exit-code.js';
import { describeJoined, ReceiptJoining } from '../settle/receipt-joining.js';
import { joinReceipts } from '../settle/settle-receipts.js';
import type { Files } from '../storage/files.js';
import { acquireLock, readLockOwner } from '../storage/lock.js';
import { metricsPortOptions, readMetricsFlags } from './metrics-options.js';
import { defineVerb, host, json, port, readPort, textOption } from './verb.js';

/** What `openssl rand -base64 12` gives. */
const SHORT_SECRET = 16;

/**
 * `volley listen`: webhook events and delivery receipts into a file, until a signal. Its first line on stdout is JSON;
 * the totals follow at the end. A second signal leaves at once: what was acknowledged is in the file. With a run, its
 * deliveries are written and its rows in doubt settled, as receipts come and at the end.
 */
export const listen = defineVerb({
  args: {},
  flags: {
    port: port('8080'),
    host,
    output: textOption('File that gets each event once, one JSON object a line; an existing file is continued'),
    run: textOption(
      'A run directory: receives the delivery receipts of that run (default output: its receipts.ndjson)',
    ),
    'secret-env': textOption('Environment variable that holds the secret, which senders put into the path or a header'),
    'secret-file': textOption('File that holds the secret'),
    ...metricsPortOptions,
    json,
  },
  examples: [
    ['--output events.ndjson --secret-env HOOK_SECRET', ''],
    ['--run out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --port 0', ''],
  ],
  names: () => ({}),
  run: async (flags, context): Promise<Result> => {
    const { host, metricsHost, metricsPort } = flags;
    const port = readPort(flags.port);
    const asked = readMetricsFlags({ metricsPort, metricsHost });
    const run = await chooseRun(flags.run, flags.output);
    const output = chooseOutput(flags.output, run?.directory);
    context.name({ output });
    if (run !== undefined) context.name({ job: run.plan.job.name, run: run.plan.id });
    const secret = await chooseSecret(flags.secretEnv, flags.secretFile, context);
    const { env, log, terminal } = context;
    const { clock, files } = env;
    if (secret !== undefined && secret.length < SHORT_SECRET) {
      log.warn(`the secret has fewer than ${SHORT_SECRET} characters: it may be guessed`);
    }
    const stopping = watchSignals(terminal);
    let metrics: Awaited<ReturnType<typeof openListenMetrics>>;
    try {
      const placing =
        run === undefined
          ? passDiskErrors
          : <T>(task: () => Promise<T>) => placeDiskErrors(dirname(run.directory), task);
      let joining: ReceiptJoining | undefined;
      const onWritten: ListenerOptions['onWritten'] = ({ kind }) => {
        if (kind === 'receipt') joining?.noteReceipt();
      };
      const lockOutput = () => lockFile(output, context);
      metrics = await openListenMetrics(asked, context);
      const listener = await placing(() =>
        startListener({ host, port, output, secret, onWritten, lockOutput, files, clock, log }),
      );
      const { origin, path, counts } = listener;
      metrics?.watch(listener);
      const quiet = new AbortController();
      const logging = logCounts({ clock, log, signal: quiet.signal }, counts);
      try {
        if (run !== undefined) {
          joining = new ReceiptJoining({ clock, log, join: () => joinReceipts(run, lockDepsOf(env, log)) });
        }
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
      context.name({ ...counts });
      return {
        json: {
          output,
          ...counts,
          ...(joined === undefined ? {} : { run: { directory: run?.directory, ...joined } }),
        },
        text: `${describeCounts(counts)}\n  → ${escapeText(output)}\n${joined === undefined ? '' : `${describeJoined(joined)}\n`}`,
        exitCode: EXIT.ok,
        reason: `a signal came; ${describeCounts(counts)}`,
      };
    } finally {
      stopping.end();
      await metrics?.close();
    }
  },
});

async function openListenMetrics(flags: MetricsFlags | undefined, context: Context) {
  if (flags === undefined) return undefined;
  const { ListenMetrics } = await import('../observe/listen-metrics.js');
  return ListenMetrics.serve(flags, context);
}

function watchSignals(terminal: Terminal): { signalled: Promise<void>; end: () => void } {
  let end = () => {};
  const signalled = new Promise<void>((resolve) => {
    end = onFirstSignal(terminal, () => resolve());
  });
  return { signalled, end };
}

async function chooseRun(
  run: string | undefined,
  output: string | undefined,
): Promise<{ directory: string; plan: Plan } | undefined> {
  if (run === undefined || run === '') return undefined;
  if (output !== undefined && output !== '') {
    throw new UserError('bad-flag', 'Cannot listen: --output and --run are both given, expected one of them', {
      hint: `With --run, receipts are written to ${RECEIPTS_FILE} in the run directory.`,
    });
  }
  return openRunDirectory(run);
}

function chooseOutput(output: string | undefined, runDirectory: string | undefined): string {
  if (runDirectory !== undefined) return join(runDirectory, RECEIPTS_FILE);
  if (output !== undefined && output !== '') return resolve(output);
  throw new UserError(
    'bad-flag',
    'Cannot listen: neither --output nor --run is given, expected the file that events are written to',
  );
}

async function chooseSecret(
  secretEnv: string | undefined,
  secretFile: string | undefined,
  context: Context,
): Promise<string | undefined> {
  if (secretEnv !== undefined && secretFile !== undefined) {
    throw new UserError(
      'bad-flag',
      'Cannot listen: --secret-env and --secret-file are both given, expected one of them',
    );
  }
  const source =
    secretEnv !== undefined ? { env: secretEnv } : secretFile !== undefined ? { file: resolve(secretFile) } : undefined;
  return source && keepSecret(source, 'the secret of the listener', context);
}

/** Beside the file, links followed, in a directory of its own: one listener at a time, also on a shared volume. */
async function lockFile(output: string, { env, log }: Context): Promise<OutputLock> {
  const path = await findRealPath(output, env.files);
  const directory = join(dirname(path), `.${basename(path)}.lock`);
  const deps = lockDepsOf(env, log);
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
async function findRealPath(output: string, files: Files): Promise<string> {
  const found = await files.stat(output);
  if (found === undefined) {
    await files.makeDirectory(dirname(output));
    await (await files.openAppend(output)).close();
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
