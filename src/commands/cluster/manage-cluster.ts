import type { Database } from '../../cluster/postgres/database.js';
import { StoreLost } from '../../cluster/store.js';
import { type Host, openLog } from '../../command/deps.js';
import { printResult } from '../../command/print.js';
import { DATABASE_FLAGS, readAddress } from '../../command/read-secrets.js';
import { type CommandEnd, logCommand } from '../../command/runner.js';
import { SecretKeeper } from '../../command/terminal.js';
import { countOf } from '../../domain/count-of.js';
import { ServiceError, UserError } from '../../domain/errors.js';
import type { ClusterSettings } from '../../job/job.js';
import { EXIT } from '../../report/exit-code.js';
import { formatStatus } from './format-status.js';

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
      await printResult(host, { json }, { json: done.json, text: done.text });
      return { exitCode: EXIT.ok, reason: 'done' };
    } catch (error) {
      if (!(error instanceof StoreLost)) throw error;
      throw new ServiceError('unavailable', error.message, { hint: 'Check that it runs, and its address.' });
    } finally {
      await database.close();
    }
  });
}
