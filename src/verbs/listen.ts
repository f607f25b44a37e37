import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Context } from '../command/context.js';
import { lockDepsOf } from '../command/env.js';
import { keepSecret } from '../command/open-service.js';
import { openRunsBelow } from '../command/run-directory.js';
import { escapeText } from '../command/screen.js';
import { endOnSignal, untilSignal } from '../command/signals.js';
import { closing } from '../domain/closing.js';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { assertIsFile } from '../listen/event-file.js';
import { describeCounts, logCounts } from '../listen/listen-server.js';
import { type OutputLock, startListener } from '../listen/listener.js';
import { takeOptOuts } from '../listen/opt-outs.js';
import {
  createReceiptJoining,
  createRunReceipts,
  describeJoined,
  type JoinedTotals,
  type ReceivingRun,
} from '../settle/run-receipts.js';
import { type JoinEnd, joinReceipts } from '../settle/settle-receipts.js';
import type { Files } from '../storage/files.js';
import { acquireLock, readLockOwner } from '../storage/lock.js';
import { defineVerb, host, json, metricsPort, port, readAs, text } from './verb.js';

/** Characters of a secret: so many letters and digits cannot be tried, five are tried in hours. */
const LEAST_SECRET = 16;

/** Runs that a person reads of at the end. */
const MOST_RUNS = 10;

/** The file, in the directory of outputs, of what is no receipt of a run there. */
const OTHER_EVENTS = 'events.ndjson';

/**
 * `volley listen`: webhook events and delivery receipts into a file, until a signal. Its first line on stdout is JSON;
 * the totals follow at the end. A second signal leaves at once: what was acknowledged is in the file. With `--receipts`, deliveries
 * of runs are written and their rows in doubt settled, as receipts come and at the end.
 */
export const listen = defineVerb({
  args: {},
  flags: {
    port: port(8080),
    host,
    output: text('File that gets each event once, one JSON object a line; an existing file is continued'),
    receipts: {
      ...text(
        'Directory of the outputs of jobs, such as out, or campaigns/ of a console: the receipts of each run below it go to the run',
      ),
      conflicts: 'output',
    },
    'opt-outs': text(
      'A list of opt-outs: gets a line for each SMS that is one of the words, before it is acknowledged',
    ),
    words: readAs(
      'Words by which people opt out, separated by commas (default: STOP and others, see events)',
      'words',
      split,
    ),
    'in-words': readAs('Words by which people opt in again, separated by commas (default: none)', 'words', split),
    'secret-env': text('Environment variable that holds the secret, which senders put into the path or a header'),
    'secret-file': { ...text('File that holds the secret'), conflicts: 'secret-env' },
    ...metricsPort,
    json,
  },
  examples: [
    ['--output events.ndjson --secret-env HOOK_SECRET', ''],
    ['--opt-outs lists/opt-outs.csv --in-words START', 'takes down who answers STOP'],
    ['--receipts out', 'deliveries of all runs, those to come included'],
  ],
  run: (flags, context) =>
    endOnSignal(context, async () => {
      const { env, log, terminal, name } = context;
      const { clock, files } = env;
      const { host, port, metricsPort } = flags;
      const output = chooseOutput(flags);
      const receipts = flags.receipts === undefined ? undefined : await receiveInto(resolve(flags.receipts), context);
      name({ output });
      const secret = await readOwnSecret(flags, context);
      const stopped = untilSignal(context);
      const measure = async () => (await import('../observe/metrics.js')).ListenMetrics.serve(flags, output, context);
      await using optOuts = closing(await takeOptOuts(flags, { ...env, log }));
      await using metrics = closing(metricsPort === undefined ? undefined : await measure());
      const lockOutput = () => lockFile(output, context);
      const onArrived = optOuts?.onArrived;
      const deps = { secret, onArrived, divert: receipts?.divert, lockOutput, files, clock, log };
      const listener = await startListener({ host, port, output, ...deps });
      const { origin, path, counts } = listener;
      metrics?.watch(listener);
      const quiet = new AbortController();
      let runs: readonly JoinedTotals[] | undefined;
      const logging = logCounts({ clock, log, signal: quiet.signal }, listener);
      try {
        await receipts?.begin();
        await terminal.writeStdout(
          `${JSON.stringify({ state: 'listening', exitCode: null, error: null, origin, path, output })}\n`,
        );
        const failure = await Promise.race([stopped, listener.failed, optOuts?.failed ?? stopped]);
        if (failure !== undefined) {
          log.error(describeCounts(counts), { ...counts });
          throw failure;
        }
      } finally {
        quiet.abort();
        await logging;
        // Joins what became durable only now, too.
        await listener.close().finally(async () => {
          runs = await receipts?.finish();
        });
      }
      name({ ...counts });
      const said = `${describeCounts(counts)}${optOuts?.said ?? ''}`;
      return {
        json: { output, ...counts, ...optOuts?.json, ...(runs === undefined ? {} : { runs }) },
        text: `${[said, `  → ${output}`, ...describeRuns(runs ?? [])].map(escapeText).join('\n')}\n`,
        reason: `a signal came; ${said}`,
      };
    }),
});

/** Writes receipts to the runs in a directory of outputs, and joins them to these. */
async function receiveInto(directory: string, context: Context) {
  const { env, log } = context;
  const { files, clock } = env;
  const runs = await openRunsBelow(context, directory);
  const find = async (run: string): Promise<ReceivingRun | undefined> => {
    const found = await runs.find(run);
    return found && { run, directory: found.directory };
  };
  const join = async ({ run }: ReceivingRun): Promise<JoinEnd> => {
    const found = await runs.find(run);
    // It was pruned or removed meanwhile.
    return found === undefined ? { kind: 'nothing' } : joinReceipts(found, lockDepsOf(env, log));
  };
  const joining = createReceiptJoining({ clock, log, join, onPause: (): Promise<void> => receipts.closeIdle() });
  const onWritten = (run: ReceivingRun) => joining.note(run);
  const receipts = createRunReceipts({ files, clock, log }, { findRun: find, onWritten });
  return {
    divert: receipts.add,
    /** Begins with what a listener that was killed has left. */
    begin: async () => {
      for await (const { plan, directory } of runs.listBehind()) joining.note({ run: plan.id, directory });
      joining.begin();
    },
    finish: async () => {
      await receipts.close();
      await joining.finish();
      return joining.totals;
    },
  };
}

/** A line for each run; of many, their number behind the first. */
function describeRuns(runs: readonly JoinedTotals[]): string[] {
  const nameOf = (directory: string) => join(basename(dirname(directory)), basename(directory));
  const lines = runs.slice(0, MOST_RUNS).map((each) => `  ${nameOf(each.directory)}: ${describeJoined(each)}`);
  const others = runs.length - lines.length;
  return others === 0 ? lines : [...lines, `  and ${countOf(others, 'other run')}`];
}

function chooseOutput(flags: Readonly<Record<'output' | 'optOuts' | 'receipts', string | undefined>>): string {
  const { output, optOuts, receipts } = flags;
  if (receipts !== undefined) return join(resolve(receipts), OTHER_EVENTS);
  if (output !== undefined) return resolve(output);
  // What came is the evidence of what was taken down.
  if (optOuts !== undefined) return resolve(`${optOuts.replace(/\.csv$/, '')}.events.ndjson`);
  throw new UserError(
    'bad-flag',
    'Cannot listen: none of --output, --receipts and --opt-outs is given, expected the file that events are written to',
  );
}

function split(given: string): string[] | undefined {
  const words = given.split(',').map((word) => word.trim());
  return words.includes('') ? undefined : words;
}

async function readOwnSecret(
  { secretEnv, secretFile }: Readonly<Record<'secretEnv' | 'secretFile', string | undefined>>,
  context: Context,
): Promise<string | undefined> {
  if (secretEnv === undefined && secretFile === undefined) return undefined;
  const source = secretFile === undefined ? { env: secretEnv ?? '' } : { file: resolve(secretFile) };
  const secret = await keepSecret(source, 'the secret of the listener', context);
  if (secret.length >= LEAST_SECRET) return secret;
  throw new UserError(
    'bad-credentials',
    `Cannot listen: the secret has fewer than ${LEAST_SECRET} characters and may be guessed, expected at least so many`,
    { hint: 'Who has it can write opt-outs, and receipts that settle rows. `openssl rand -hex 24` makes one.' },
  );
}

/** Beside the file, links followed, in a directory of its own: one listener at a time, also on a shared volume. */
async function lockFile(output: string, { env, log }: Context): Promise<OutputLock> {
  const path = await findRealPath(output, env.files);
  const directory = join(dirname(path), `.${basename(path)}.lock`);
  const deps = lockDepsOf(env, log);
  const lost = `Cannot continue: this process lost its lock on ${output}, no further event is acknowledged`;
  const hint =
    'It was paused, or could not write to its disk, for longer than its lock lasts, or the clock was set ahead. Run the same command to resume.';
  try {
    const lock = await acquireLock(deps, directory);
    return {
      assertHeld: () => lock.assertHeld().catch(() => Promise.reject(new UserError('lock-held', lost, { hint }))),
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
