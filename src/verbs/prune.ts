import { basename, resolve } from 'node:path';
import { namePerson } from '../command/env.js';
import { escapeText } from '../command/screen.js';
import { jobDirectoryOf, sandboxLedgerOf, withJob } from '../command/with-job.js';
import { countOf, formatBytes, listSaid } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { loadJob } from '../job/load.js';
import { parseAge } from '../job/schema/values.js';
import { type PruneEnd, pruneRuns } from '../prune/prune-runs.js';
import { holdsRegistry } from '../registry/open-registry.js';
import type { Files } from '../storage/files.js';
import { adopt, argument, defineVerb, json, readAs, whole, yes } from './verb.js';

/**
 * `volley prune JOB`: deletes the rows of runs that ended long ago, behind the job's lock; what they sent stays known. Of a prune that
 * was cut short, the next one does the rest.
 */
export const prune = defineVerb({
  args: { job: argument('The job file (YAML or JSON), or the directory of the job in the output') },
  flags: {
    'older-than': {
      ...readAs(
        'Only runs that ended so long ago: minutes, hours, days or weeks, such as 90d',
        'an age such as 90d',
        parseAge,
      ),
      demandOption: true,
    },
    'keep-last': { ...whole('Keep so many of the newest runs, whatever their age', 0), default: 0 },
    'dry-run': yes('Show what would be deleted, and delete nothing'),
    adopt,
    json,
  },
  examples: [['jobs/spring-sale.yaml --older-than 90d --dry-run', 'shows what would go']],
  run: async ({ job: written, olderThan, keepLast, dryRun }, context) => {
    const { env } = context;
    const beforeMs = env.clock.now() - olderThan;
    const choice = { beforeMs, keepLast, isDryRun: dryRun, by: namePerson(context) };
    const directory = await findJob(written, env.files);
    const job = basename(directory);
    context.name({ job });
    const end = await withJob(context, directory, ({ lock, registry }) =>
      pruneRuns({ sandboxLedger: sandboxLedgerOf(directory), registry, lock }, choice, env),
    );
    const isNothing = end.pruned.length === 0 && end.sandboxBytes === 0;
    const state = isNothing ? 'nothing-to-prune' : dryRun ? 'dry-run' : 'pruned';
    const bytes = end.pruned.reduce((sum, run) => sum + run.bytes, end.sandboxBytes);
    context.name({ state, runs: end.pruned.length, bytes });
    return {
      json: { job, directory, state, before: new Date(beforeMs).toISOString(), bytes, ...end },
      text: formatEnd(end, { job, state, bytes }),
      reason: `${countOf(end.pruned.length, 'run')} ${dryRun ? 'would be pruned' : 'pruned'}, ${formatBytes(bytes)}`,
    };
  },
});

/** Finds a job as for a run: by its file, or by its directory in the output. */
async function findJob(written: string, files: Files): Promise<string> {
  const path = resolve(written);
  const found = await files.stat(path);
  if (found?.isDirectory !== true) return jobDirectoryOf(await loadJob(written));
  if (await holdsRegistry(files, path)) return path;
  throw new UserError(
    'bad-plan',
    `Cannot prune ${written}: no job has run in it, expected a job file or its directory`,
    { hint: '`volley runs` with an output directory lists its jobs.' },
  );
}

function formatEnd(
  { pruned, sandboxBytes, skipped, kept }: PruneEnd,
  { job, state, bytes }: { job: string; state: string; bytes: number },
): string {
  const did = state === 'dry-run' ? 'would be pruned' : 'pruned';
  const lines = listSaid(
    state === 'nothing-to-prune'
      ? `Nothing to prune in job ${job}.`
      : `Job ${job}: ${countOf(pruned.length, 'run')} ${did}, ${formatBytes(bytes)}.`,
    ...pruned.map(({ run, endedAt, bytes }) => {
      const when = endedAt === null ? 'without an end' : `ended ${endedAt.slice(0, 10)}`;
      return `  ${run}  ${when}  ${formatBytes(bytes)}`;
    }),
    sandboxBytes > 0 && `  what the sandbox accepted  ${formatBytes(sandboxBytes)}`,
    ...(skipped.length === 0 ? [] : ['Not pruned:', ...skipped.map(({ run, reason }) => `  ${run}  ${reason}`)]),
    kept > 0 && `Kept, as too young or among the last: ${countOf(kept, 'run')}.`,
  );
  return `${lines.map(escapeText).join('\n')}\n`;
}
