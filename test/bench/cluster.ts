import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startDatabaseProxy } from '../cluster/database-proxy.js';
import { type PostgresServer, startPostgres } from '../cluster/postgres-server.js';
import { withSandbox } from '../sandbox/sandbox-process.js';
import { type BenchOptions, COMMAND, runProgram } from './measure.js';
import { format, printTable } from './table.js';
import { type Arrival, achievedPerSecond, worstSecond } from './worst-second.js';

const SERVER = fileURLToPath(new URL('./arrival-server.js', import.meta.url));
const ANSWER_MS = 140;
const IN_FLIGHT = 4;
const WORKERS = [1, 2, 4, 8, 16];
const LONG_SECONDS = 12;
/** So that start and end of the jobs, which are no matter of the lane, count for little. */
const LANE_SECONDS = 30;

interface Story {
  readonly rows: number;
  readonly limits: { readonly requestsPerSecond: number; readonly concurrency: number };
  readonly answerMs: number;
  readonly workers: number;
  readonly cluster: object | undefined;
  /** As many jobs at once, each with a leader. */
  readonly jobs?: number;
  /** A way to the database and back takes so much longer. */
  readonly databaseMs?: number;
}

interface Seen {
  readonly arrivals: readonly Arrival[];
  /** Of leaders and workers. */
  readonly processorSeconds: number;
  /** Of the machine, while requests arrived: 1 is every core. */
  readonly busy: number;
}

/** Leaders and workers as processes over a real PostgreSQL with its defaults, contacts to a bare server. */
export async function benchCluster({ directory }: BenchOptions): Promise<void> {
  const server = await startPostgres();
  try {
    await benchWorkers(directory, server);
    await benchLanes(directory, server);
    await benchOverhead(directory, server);
  } finally {
    await server.close();
  }
}

async function benchWorkers(directory: string, server: PostgresServer): Promise<void> {
  const lines: string[][] = [];
  let first: number | undefined;
  for (const workers of WORKERS) {
    const rows = Math.round((workers * IN_FLIGHT * 1000 * LONG_SECONDS) / ANSWER_MS);
    const limits = { requestsPerSecond: 1800, concurrency: IN_FLIGHT };
    const seen = await tell(join(directory, `workers-${workers}`), server, {
      ...{ rows, limits, answerMs: ANSWER_MS, workers, cluster: { sendHere: false } },
    });
    const perSecond = achievedPerSecond(seen.arrivals);
    first ??= perSecond;
    const speedUp = perSecond / first;
    lines.push([String(workers), format(perSecond, 1), format(speedUp), format(speedUp / workers), format(seen.busy)]);
  }
  printTable(
    `cluster: workers that wait, ${ANSWER_MS} ms an answer, ${IN_FLIGHT} in flight in each`,
    ['workers', 'requests/s', 'speed-up', 'of ideal', 'processors busy'],
    lines,
  );
}

async function benchLanes(directory: string, server: PostgresServer): Promise<void> {
  const lines: string[][] = [];
  for (const perSecond of [25, 200]) {
    for (const workers of [2, 4, 8, 16]) {
      // One worker of a job alone must be able to use it: a turn is booked 150 ms ahead.
      const limits = { requestsPerSecond: perSecond, concurrency: perSecond > 100 ? 64 : 8 };
      const seen = await tell(join(directory, `lane-${perSecond}-${workers}`), server, {
        ...{
          rows: (perSecond * LANE_SECONDS) / 2,
          limits,
          answerMs: 0,
          workers,
          cluster: { sendHere: false },
          jobs: 2,
        },
      });
      const achieved = achievedPerSecond(seen.arrivals);
      const worst = worstSecond(seen.arrivals);
      lines.push([
        format(perSecond, 0),
        String(workers),
        format(achieved / perSecond, 3),
        format(worst, 0),
        format(seen.busy),
      ]);
    }
  }
  printTable(
    'cluster: two jobs on one lane',
    ['limit/s', 'workers', 'achieved / limit', 'worst sliding second', 'processors busy'],
    lines,
  );
}

/** What leaders and workers use of their limit where the database is far. */
export async function benchDistance({ directory }: BenchOptions): Promise<void> {
  const server = await startPostgres();
  const lines: string[][] = [];
  for (const databaseMs of [0, 5, 25, 50, 100]) {
    for (const [perSecond, workers] of [
      [25, 1],
      [25, 4],
      [200, 4],
    ] as const) {
      const limits = { requestsPerSecond: perSecond, concurrency: perSecond > 100 ? 64 : 32 };
      const story = {
        rows: perSecond * LONG_SECONDS,
        limits,
        answerMs: ANSWER_MS,
        workers,
        cluster: { sendHere: false },
      };
      const seen = await tell(join(directory, `far-${databaseMs}-${perSecond}-${workers}`), server, {
        ...story,
        databaseMs,
      });
      const achieved = format(achievedPerSecond(seen.arrivals) / perSecond, 3);
      const worst = format(worstSecond(seen.arrivals), 0);
      lines.push([format(databaseMs, 0), String(perSecond), String(workers), achieved, worst, format(seen.busy)]);
    }
  }
  await server.close();
  printTable(
    'distance: a job over a database that is far',
    ['ms', 'limit/s', 'workers', 'achieved / limit', 'worst sliding second', 'processors busy'],
    lines,
  );
}

async function benchOverhead(directory: string, server: PostgresServer): Promise<void> {
  const story = { rows: 25 * LONG_SECONDS, limits: { requestsPerSecond: 25, concurrency: 8 }, answerMs: 20 };
  const plain = await tell(join(directory, 'plain'), server, { ...story, workers: 0, cluster: undefined });
  const led = await tell(join(directory, 'led'), server, { ...story, workers: 0, cluster: { sendHere: true } });
  const one = await tell(join(directory, 'one'), server, { ...story, workers: 1, cluster: { sendHere: false } });
  const line = (name: string, { processorSeconds }: Seen) => [
    name,
    format(processorSeconds),
    format(processorSeconds / plain.processorSeconds),
  ];
  printTable(
    `cluster: processor time of ${format(story.rows, 0)} requests at 25 a second, without that of the database`,
    ['', 'processor s', '/ plain'],
    [line('plain run', plain), line('leader that sends', led), line('leader and one worker', one)],
  );
}

async function tell(directory: string, server: PostgresServer, story: Story): Promise<Seen> {
  process.stderr.write(`${directory.split('/').at(-1)}\n`);
  const database = await server.createVolleyDatabase();
  const { databaseMs: answerMs = 0 } = story;
  const proxy = await startDatabaseProxy(server.directory, { answerMs });
  const url = answerMs === 0 ? server.url(database) : proxy.url(database);
  mkdirSync(directory, { recursive: true });
  return withSandbox(directory, [SERVER, String(story.answerMs)], async (sandbox) => {
    const jobs = story.jobs ?? 1;
    const work = writeStory(directory, story, sandbox.origin, jobs);
    const env = envOf(sandbox.credentials.apiKey, url);
    const start = (...args: string[]) => runProgram({ args: [COMMAND, ...args], cwd: work, env });
    const before = readProcessors();
    const workers = Array.from({ length: story.workers }, (_, index) =>
      start('work', `job-${(index % jobs) + 1}.yaml`, '--until-done'),
    );
    const leaders = Array.from({ length: jobs }, (_, index) => start('run', `job-${index + 1}.yaml`));
    const ended = await Promise.all([...leaders, ...workers]);
    const after = readProcessors();
    const arrivals = (await sandbox.readRequests()).map(({ atMs, messages }) => ({ atMs, amount: messages }));
    if (arrivals.length !== story.rows * jobs)
      throw new Error(`${arrivals.length} requests, expected ${story.rows * jobs}`);
    return {
      arrivals,
      processorSeconds: ended.reduce((sum, { processorSeconds = 0 }) => sum + processorSeconds, 0),
      busy: (after.busy - before.busy) / (after.all - before.all),
    };
  }).finally(() => proxy.close());
}

function envOf(apiKey: string, url: string): Record<string, string> {
  return { PATH: process.env.PATH ?? '', VOLLEY_API_KEY: apiKey, VOLLEY_DATABASE_URL: url };
}

function writeStory(directory: string, { rows, limits, cluster }: Story, origin: string, jobs: number): string {
  mkdirSync(directory, { recursive: true });
  for (let job = 1; job <= jobs; job += 1) {
    const numbers = Array.from(
      { length: rows },
      (_, index) => `P${index},+65${90_000_000 + job * 1_000_000 + index}\n`,
    );
    writeFileSync(join(directory, `people-${job}.csv`), `name,mobile\n${numbers.join('')}`);
    const database = { env: 'VOLLEY_DATABASE_URL' };
    const text = {
      name: `bench-${job}`,
      service: { account: 'acme', credentials: { apiKey: { env: 'VOLLEY_API_KEY' } }, bases: { contacts: origin } },
      steps: [
        {
          ...{ kind: 'contacts', input: { files: `people-${job}.csv` }, limits },
          fields: { firstName: 'name', msisdn: 'mobile' },
        },
      ],
      ...(cluster === undefined ? {} : { cluster: { database, ...cluster } }),
    };
    writeFileSync(join(directory, `job-${job}.yaml`), JSON.stringify(text));
  }
  return directory;
}

/** Jiffies since the machine started, where it is Linux. */
function readProcessors(): { busy: number; all: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const jiffies = line.split(/\s+/).slice(1).map(Number);
  const all = jiffies.reduce((sum, each) => sum + each, 0);
  return { busy: all - (jiffies[3] ?? 0) - (jiffies[4] ?? 0), all };
}
