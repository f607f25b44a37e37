import { basename, join, resolve } from 'node:path';
import { type Host, openLog, runtimeOf } from '../../command/deps.js';
import { placeDiskErrors } from '../../command/disk-error.js';
import { jobDirectoryOf, sandboxLedgerOf } from '../../command/job-directory.js';
import { type CommandEnd, logCommand, type NameFields } from '../../command/log-command.js';
import { printResult } from '../../command/print.js';
import { lockDepsOf, namePerson } from '../../command/runtime.js';
import { escapeText, SecretKeeper } from '../../command/terminal.js';
import { countOf } from '../../domain/count-of.js';
import { UserError } from '../../domain/errors.js';
import { parseAge } from '../../job/age.js';
import { loadJob } from '../../job/load.js';
import { withFields } from '../../ports/log.js';
import { type PruneEnd, pruneRuns } from '../../prune/prune-runs.js';
import { REGISTRY_FILE } from '../../registry/registry-entry.js';
import { EXIT } from '../../report/exit-code.js';
import type { Files } from '../../storage/files.js';
import { acquireLock } from '../../storage/lock.js';
import { formatBytes } from '../../texts/run-table.js';
import { openJobRegistry } from '../session/session.js';

export interface PruneFlags {
  /** A job file, or the directory of a job. */
  readonly job: string;
  /** As typed: `90d`. */
  readonly olderThan: string;
  readonly keepLast: string | undefined;
  readonly dryRun: boolean;
  readonly adopt?: boolean;
  readonly json: boolean | undefined;
}

/**
 * `volley prune JOB`: deletes the rows of runs that ended long ago, behind the job's lock; what they sent stays known. Of a prune that
 * was cut short, the next one does the rest.
 */
export function pruneJob(flags: PruneFlags, host: Host): Promise<number> {
  return logCommand(host, { command: 'prune', file: flags.job }, (name) => pruneNamed(flags, { host, name }));
}

async function pruneNamed(flags: PruneFlags, { host, name }: { host: Host; name: NameFields }): Promise<CommandEnd> {
  const runtime = runtimeOf(host);
  const { files, clock } = runtime;
  const beforeMs = clock.now() - readAge(flags.olderThan);
  const choice = { beforeMs, keepLast: readKeepLast(flags.keepLast), isDryRun: flags.dryRun };
  const jobDirectory = await findJob(flags.job, files);
  const job = basename(jobDirectory);
  name({ job });
  const end = await placeDiskErrors(jobDirectory, async () => {
    const log = withFields(openLog(host, new SecretKeeper()), () => ({ job }));
    const lock = await acquireLock(lockDepsOf(runtime, log), jobDirectory);
    try {
      const registry = await openJobRegistry({ jobDirectory, lock, log, runtime, adopt: flags.adopt });
      return await pruneRuns(
        { jobDirectory, sandboxLedger: sandboxLedgerOf(jobDirectory), registry, lock },
        { ...choice, by: namePerson(runtime) },
        { files, clock },
      );
    } finally {
      await lock.release();
    }
  });
  const isNothing = end.pruned.length === 0 && end.sandboxBytes === 0;
  const state = isNothing ? 'nothing-to-prune' : flags.dryRun ? 'dry-run' : 'pruned';
  const bytes = end.pruned.reduce((sum, run) => sum + run.bytes, end.sandboxBytes);
  const before = new Date(beforeMs).toISOString();
  const json = { job, directory: jobDirectory, state, exitCode: EXIT.ok, error: null, before, bytes, ...end };
  await printResult(host, flags, { json, text: formatEnd(end, json) });
  name({ state, runs: end.pruned.length, bytes });
  const did = flags.dryRun ? 'would be pruned' : 'pruned';
  return { exitCode: EXIT.ok, reason: `${countOf(end.pruned.length, 'run')} ${did}, ${formatBytes(bytes)}` };
}

/** As for a run: a job's file, or its directory in the output. */
async function findJob(written: string, files: Files): Promise<string> {
  const path = resolve(written);
  const found = await files.stat(path);
  if (found?.isDirectory !== true) return jobDirectoryOf(await loadJob(written));
  if ((await files.stat(join(path, REGISTRY_FILE))) !== undefined) return path;
  throw new UserError(
    'bad-plan',
    `Cannot prune ${written}: no job has run in it, expected a job file or its directory`,
    {
      hint: '`volley runs` with an output directory lists its jobs. One of an older version of volley: `volley run` its job once.',
    },
  );
}

function readKeepLast(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new UserError('bad-flag', `Cannot prune: --keep-last is ${JSON.stringify(text)}, expected a number of runs`);
}

function formatEnd(
  { pruned, sandboxBytes, skipped, kept }: PruneEnd,
  { job, state, bytes }: { job: string; state: string; bytes: number },
): string {
  const did = state === 'dry-run' ? 'would be pruned' : 'pruned';
  const lines = [
    state === 'nothing-to-prune'
      ? `Nothing to prune in job ${job}.`
      : `Job ${job}: ${countOf(pruned.length, 'run')} ${did}, ${formatBytes(bytes)}.`,
    ...pruned.map(({ run, endedAt, bytes }) => {
      const when = endedAt === null ? 'without an end' : `ended ${endedAt.slice(0, 10)}`;
      return `  ${run}  ${when}  ${formatBytes(bytes)}`;
    }),
    ...(sandboxBytes === 0 ? [] : [`  what the sandbox accepted  ${formatBytes(sandboxBytes)}`]),
    ...(skipped.length === 0 ? [] : ['Not pruned:', ...skipped.map(({ run, reason }) => `  ${run}  ${reason}`)]),
    ...(kept === 0 ? [] : [`Kept, as too young or among the last: ${countOf(kept, 'run')}.`]),
  ];
  return `${lines.map(escapeText).join('\n')}\n`;
}

function readAge(text: string): number {
  const ageMs = parseAge(text);
  if (ageMs !== undefined) return ageMs;
  throw new UserError(
    'bad-flag',
    `Cannot prune: --older-than is ${JSON.stringify(text)}, expected a number of hours, days or weeks, such as 90d`,
  );
}
