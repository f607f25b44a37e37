import { type Database, openDatabase, parseDatabaseUrl } from '../cluster/postgres/database.js';
import { checkSchema, initSchema } from '../cluster/postgres/schema/database-schema.js';
import { type ClusterStatus, dropNamedRun, readClusterStatus } from '../cluster/postgres/status-and-drop.js';
import type { Context, Result } from '../command/context.js';
import { readAddress } from '../command/open-service.js';
import { escapeText } from '../command/screen.js';
import { closing } from '../domain/closing.js';
import { countOf, format } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import { argument, databaseFlags, defineBelow, type Group, json, text } from './verb.js';

const flags = { ...databaseFlags, json } as const;

async function withDatabase(
  where: { readonly databaseEnv: string | undefined; readonly databaseFile: string | undefined },
  context: Context,
  task: (database: Database) => Promise<{ json: object; text: string }>,
): Promise<Result> {
  const { databaseEnv: env = 'VOLLEY_DATABASE_URL', databaseFile: file } = where;
  const url = await readAddress(file === undefined ? { env } : { file }, context);
  await using database = closing(openDatabase(await parseDatabaseUrl(url)));
  return await task(database);
}

const init = defineBelow('init', 'Create the schema volley in a PostgreSQL database, or bring it up to date', {
  args: {},
  flags: { role: text('Role that leaders and workers connect as: gets what they need, and no more'), ...flags },
  examples: [['--role volley_worker', '']],
  run: ({ role, ...where }, context) =>
    withDatabase(where, context, async (database) => {
      if (role !== undefined) await assertRole(database, role);
      const { from, to } = await initSchema(database, role);
      const did =
        from === to ? `The schema is up to date: version ${to}.` : `The schema \`volley\` has version ${to} now.`;
      const granted = role === undefined ? '' : `Role ${role} may lead and work, and neither create nor drop.\n`;
      return {
        json: { from, to, role: role ?? null },
        text: `${did}\n${granted}Next: give jobs \`cluster: { database: … }\`, and start workers with volley work.\n`,
      };
    }),
});

/** Refuses a role that does not exist, before anything is created. */
async function assertRole(database: Database, role: string): Promise<void> {
  const [found] = await database.query('select from pg_roles where rolname = $1', [role]);
  if (found !== undefined) return;
  throw new UserError('bad-flag', `Cannot prepare the database for --role ${role}: its server has no such role`, {
    hint: `Create it first: create role "${role.replaceAll('"', '""')}" login password '…'. Nothing was changed.`,
  });
}

const status = defineBelow(
  'status',
  'Show who leads, stands by and works, what is open and in doubt, how much of the limit is used, and what to do',
  {
    args: {},
    flags,
    examples: [['', '']],
    run: (where, context) =>
      withDatabase(where, context, async (database) => {
        await checkSchema(database);
        const found = await readClusterStatus(database, context.env.clock);
        return { json: found, text: formatStatus(found) };
      }),
  },
);

/** For the run's next leader, what was handed over is in doubt. */
const drop = defineBelow(
  'drop <run>',
  'Delete what the database holds of a run; what workers had of it is in doubt then',
  {
    args: { run: argument('Id of the run, as cluster status shows it') },
    flags,
    examples: [['k3v9q2m8x4aa', '']],
    run: ({ run, ...where }, context) =>
      withDatabase(where, context, async (database) => {
        context.name({ run });
        await checkSchema(database);
        const rows = await dropNamedRun(database, run, (underWay) =>
          context.log.warn(`waits for ${countOf(underWay, 'request')} that workers are sending; nothing more begins`),
        );
        return {
          json: { run, state: 'dropped', rows },
          text: `Run ${run} is no longer in the database, which had ${countOf(rows, 'row')} without an outcome in its journal: they are in doubt. Run its job again for the rest.\n`,
        };
      }),
  },
);

type Run = ClusterStatus['runs'][number];

/** What a database holds, for a person; the words are those of jobs/reference/cluster.md. */
function formatStatus({ runs, workers, lanes, answersInMs }: ClusterStatus): string {
  const lines = [
    `The database answers in ${answersInMs < 10 ? answersInMs.toFixed(1) : Math.round(answersInMs)} ms.`,
    ...(runs.length === 0 ? ['No runs: nothing of people is in the database.'] : []),
    ...runs.flatMap((run) => [
      `Run ${run.run} of job ${run.job}: ${describeState(run)}`,
      ...inColumns([...describeRun(run), ['next', nextOf(run, workers.length)]]),
    ]),
    workers.length === 0 ? 'No workers.' : 'Workers',
    ...inColumns(
      workers.map(({ name, leaseSeconds, claimed, underWay }) => [
        name,
        `${format(claimed)} claimed, ${format(underWay)} under way, lease for ${Math.round(leaseSeconds)} s`,
      ]),
    ),
    ...(lanes.length === 0 ? [] : ['Lanes']),
    ...inColumns(lanes.map((lane) => [lane.lane, describeLane(lane)])),
  ];
  return `${lines.map(escapeText).join('\n')}\n`;
}

function inColumns(pairs: readonly (readonly [name: string, text: string])[]): string[] {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
}

function describeState({ step, isOpen, noLeaderSince, stop, hasLost }: Run): string {
  const why = stop === null ? '' : `, since it was to stop (${stop})`;
  if (hasLost) return 'the database lacks requests that were sent, nothing of it begins';
  if (noLeaderSince !== null) return `no leader since ${noLeaderSince}, nothing of it begins${why}`;
  if (stop !== null) return `stops: ${stop}`;
  return isOpen ? `step ${step} is sent` : 'no step is open, its leader prepares or ends one';
}

function describeRun(run: Run): [string, string][] {
  const { leader, noLeaderSince, standbys, open, claimed, underWay, rows, bodies, oldestOpenSeconds } = run;
  const oldest = oldestOpenSeconds === null ? '' : `, the oldest for ${Math.round(oldestOpenSeconds)} s`;
  return [
    [noLeaderSince === null ? 'leads' : 'led', leader],
    ['stands by', standbys.length === 0 ? 'no process' : standbys.join(', ')],
    ['requests', `${format(open)} open${oldest}, ${format(claimed)} claimed, ${format(underWay)} under way`],
    ['in doubt', `${countOf(rows, 'row')} if the run is dropped now, or the database lost`],
    ['people', `numbers and texts of ${countOf(bodies, 'request')} are in the database`],
  ];
}

/** Longer than most pauses that a service asks for. */
const LONG_OPEN_SECONDS = 120;

function nextOf(given: Run, workers: number): string {
  const { run, noLeaderSince, standbys, stop, isOpen, open, oldestOpenSeconds, hasLost } = given;
  if (hasLost) return `look at what happened, then \`volley cluster drop ${run}\`, and run its job again`;
  if (noLeaderSince !== null) {
    return standbys.length === 0
      ? `run its job again: it resumes, and sends nothing twice; if it was abandoned or ended elsewhere: \`volley cluster drop ${run}\``
      : 'nothing to do: the process that stands by takes over, within a minute or so';
  }
  if (stop !== null) return 'nothing to do: its leader ends';
  if (isOpen && open > 0 && workers === 0) return 'start a worker: volley work';
  return isOpen && (oldestOpenSeconds ?? 0) > LONG_OPEN_SECONDS
    ? 'no worker gets on with it: look at their logs, and at the lane below'
    : 'nothing to do';
}

function describeLane({ share, pausedSeconds, used }: ClusterStatus['lanes'][number]): string {
  const pace = share === 1 ? 'not slowed down' : `slowed down to ${Math.round(share * 100)} %`;
  const pause = pausedSeconds > 0 ? `, paused for ${Math.ceil(pausedSeconds)} s` : '';
  return `${Math.round(used * 100)} % of its limit used, ${pace}${pause}`;
}

export const cluster: Group = [init, status, drop];
