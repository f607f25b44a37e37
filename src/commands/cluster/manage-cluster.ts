import type { Database } from '../../cluster/postgres/database.js';
import type { ClusterStatus } from '../../cluster/postgres/read-status.js';
import { StoreLost } from '../../cluster/store.js';
import { countOf, format } from '../../domain/count-of.js';
import { ServiceError, UserError } from '../../domain/errors.js';
import type { ClusterSettings } from '../../job/job.js';
import { EXIT } from '../../report/exit-code.js';
import { type Host, openLog } from '../support/deps.js';
import { type CommandEnd, logCommand } from '../support/log-command.js';
import { printResult } from '../terminal/print.js';
import { escapeText, SecretKeeper } from '../terminal/terminal.js';
import { DATABASE_FLAGS, readAddress } from './read-address.js';

export interface ClusterFlags {
  readonly database: ClusterSettings['database'];
  readonly json: boolean | undefined;
}

/** `volley cluster init`: creates the schema, or brings it up to date. `role`: what leaders and workers connect as. */
export function initCluster(flags: ClusterFlags & { readonly role: string | undefined }, host: Host): Promise<number> {
  return manage('cluster init', flags, host, async (database) => {
    const { grantStatements, initSchema } = await import('../../cluster/postgres/schema/database-schema.js');
    if (flags.role !== undefined) await assertRole(database, flags.role);
    const { from, to } = await initSchema(database);
    if (flags.role !== undefined) await database.query(grantStatements(flags.role));
    const did =
      from === to ? `The schema is up to date: version ${to}.` : `The schema \`volley\` has version ${to} now.`;
    const granted =
      flags.role === undefined ? '' : `Role ${flags.role} may lead and work, and neither create nor drop.\n`;
    return {
      json: { from, to, role: flags.role ?? null },
      text: `${did}\n${granted}Next: give jobs \`cluster: { database: … }\`, and start workers with volley work.\n`,
    };
  });
}

/** Before anything is created. */
async function assertRole(database: Database, role: string): Promise<void> {
  const [found] = await database.query('select from pg_roles where rolname = $1', [role]);
  if (found !== undefined) return;
  throw new UserError('bad-flag', `Cannot prepare the database for --role ${role}: its server has no such role`, {
    hint: `Create it first: create role "${role.replaceAll('"', '""')}" login password '…'. Nothing was changed.`,
  });
}

/** `volley cluster status`: runs, workers and lanes of the database. */
export function showCluster(flags: ClusterFlags, host: Host): Promise<number> {
  return manage('cluster status', flags, host, async (database) => {
    await assertSchema(database);
    const { readClusterStatus } = await import('../../cluster/postgres/read-status.js');
    const status = await readClusterStatus(database);
    return { json: status, text: formatStatus(status) };
  });
}

/** `volley cluster drop RUN`: forgets what the database knows of a run. For its next leader, what was handed over is in doubt. */
export function dropFromCluster(flags: ClusterFlags & { readonly run: string }, host: Host): Promise<number> {
  return manage('cluster drop', flags, host, async (database) => {
    await assertSchema(database);
    const { dropNamedRun } = await import('../../cluster/postgres/drop-run.js');
    const log = openLog(host, new SecretKeeper());
    const onWaiting = (underWay: number) =>
      log.warn(`waits for ${countOf(underWay, 'request')} that workers are sending; nothing more of the run begins`);
    if (!(await dropNamedRun(database, flags.run, onWaiting))) {
      throw new UserError(
        'bad-flag',
        `Cannot drop run ${flags.run}: the database does not know it, expected one of its runs`,
        {
          hint: 'volley cluster status lists them.',
        },
      );
    }
    return {
      json: { run: flags.run, state: 'dropped' },
      text: `Run ${flags.run} is no longer in the database. Its directory has the record: run its job again, and what workers had is in doubt.\n`,
    };
  });
}

async function assertSchema(database: Database): Promise<void> {
  const { checkSchema } = await import('../../cluster/postgres/schema/database-schema.js');
  await checkSchema(database);
}

async function manage(
  command: string,
  { database: source, json }: ClusterFlags,
  host: Host,
  task: (database: Database) => Promise<{ json: object; text: string }>,
): Promise<number> {
  return logCommand(host, { command }, async (): Promise<CommandEnd> => {
    const url = await readAddress(source, host, DATABASE_FLAGS);
    const [{ openDatabase }, { parseDatabaseUrl }] = await Promise.all([
      import('../../cluster/postgres/database.js'),
      import('../../cluster/postgres/database-url.js'),
    ]);
    const database = openDatabase(await parseDatabaseUrl(url));
    try {
      const done = await task(database);
      await printResult(host, { json }, { json: { ...done.json, exitCode: EXIT.ok, error: null }, text: done.text });
      return { exitCode: EXIT.ok, reason: 'done' };
    } catch (error) {
      if (!(error instanceof StoreLost)) throw error;
      throw new ServiceError('unavailable', error.message, { hint: 'Check that it runs, and its address.' });
    } finally {
      await database.close();
    }
  });
}

function formatStatus({ runs, workers, lanes, standbys }: ClusterStatus): string {
  const lines = [
    runs.length === 0 ? 'No runs: nothing of people is in the database.' : 'Runs',
    ...runs.map(({ run, job, open, claimed, underWay, bodies, ...about }) => {
      const state = describeState(about);
      const counts = `${format(open)} open, ${format(claimed)} claimed, ${format(underWay)} under way`;
      return `  ${run}  ${job}: ${state}; ${counts}; ${countOf(bodies, 'request')} with rows of people`;
    }),
    workers.length === 0 ? 'No workers.' : 'Workers',
    ...workers.map(
      ({ name, leaseSeconds, held }) =>
        `  ${name}: holds ${countOf(held, 'request')}, lease for ${Math.round(leaseSeconds)} s`,
    ),
    ...(lanes.length === 0 ? [] : ['Lanes']),
    ...lanes.map(({ lane, share, pausedSeconds }) => {
      const pause = pausedSeconds > 0 ? `, paused for ${Math.ceil(pausedSeconds)} s` : '';
      return `  ${lane}: ${Math.round(share * 100)} % of its limits${pause}`;
    }),
    describeStandbys(standbys),
  ];
  return `${lines.map(escapeText).join('\n')}\n`;
}

function describeState({
  step,
  isOpen,
  noLeaderSince,
  stop,
}: Pick<ClusterStatus['runs'][number], 'step' | 'isOpen' | 'noLeaderSince' | 'stop'>): string {
  if (noLeaderSince !== undefined) return `no leader since ${noLeaderSince}, nothing of it begins`;
  if (stop !== undefined) return `stops: ${stop}`;
  return isOpen ? `step ${step}` : 'waits for its leader';
}

function describeStandbys(standbys: ClusterStatus['standbys']): string {
  if (standbys === undefined) return 'Standbys: this role may not see them (grant pg_monitor).';
  const { synchronous, asynchronous } = standbys;
  if (synchronous > 0) return `Standbys: ${synchronous} synchronous; a promotion loses nothing.`;
  if (asynchronous === 0) return 'Standbys: none.';
  return `Standbys: ${asynchronous}, asynchronous; a promotion may lose the last commits, and then runs stop for a person.`;
}
