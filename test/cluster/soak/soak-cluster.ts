import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { createRandom, type Random } from '../../../src/sandbox/random.js';
import { startSandbox } from '../../../src/sandbox/sandbox.js';
import { checkAccount, findRun } from '../../kill/account.js';
import { createKillJob, type KillJob, pick, writeCsv } from '../../kill/job.js';
import { Life, sleep, waitFor } from '../../kill/life.js';
import { Violation } from '../../world/violation.js';
import { type DatabaseProxy, startDatabaseProxy } from '../database-proxy.js';
import type { PostgresServer } from '../postgres-server.js';

/** What can be ended; the numbers are weights. */
const VICTIMS = { worker: 6, leader: 2, server: 1, paused: 1, cutOff: 1 } as const;
export type Victim = keyof typeof VICTIMS;

const WORKERS = 3;
const LEASE_SECONDS = 15;
/** Longer than a lease. */
const PAUSE_MS = 17_000;
const MAX_CONCURRENCY = 6;
const MAX_BATCH = 15;
const LATENCY = { kind: 'latency', delayMs: 60 } as const;

type Ended = Readonly<Record<Victim, number>>;

/**
 * One job with a leader and workers as real processes over a real server; they are ended at random moments, and started again.
 * The ledger is the judge: nothing twice, nothing lost, in doubt at most what was under way at those moments.
 */
export async function soakCluster(options: { command: string; kills: number; seed: number }, server: PostgresServer) {
  const { command, kills, seed } = options;
  const random = createRandom(seed);
  const directory = mkdtempSync(join(tmpdir(), 'volley-cluster-soak-'));
  const sandbox = await startSandbox({ rateLimits: {}, faults: [LATENCY] });
  const lives = new Set<Life>();
  const closing: DatabaseProxy[] = [];
  try {
    const database = await server.createVolleyDatabase();
    const url = server.url(database);
    const proxies = await Promise.all(Array.from({ length: WORKERS }, () => startDatabaseProxy(server.directory)));
    closing.push(...proxies);
    const mixes = [['sms'], ['contacts', 'sms'], ['sms', 'verification.start']] as const;
    const job = createKillJob(random, { origin: sandbox.origin, seconds: Math.max(4, kills * 0.6), mixes });
    writeJob(directory, job, random);
    const env = { PATH: process.env.PATH ?? '', VOLLEY_API_KEY: sandbox.credentials.apiKey, VOLLEY_DATABASE_URL: url };
    const start = (address: string, ...args: string[]) => {
      const life = new Life(command, args, { cwd: directory, env: { ...env, VOLLEY_DATABASE_URL: address } });
      lives.add(life);
      void life.ended.then(() => lives.delete(life));
      return life;
    };
    const startWorker = (at: number) => start(proxies[at]?.url(database) ?? url, 'work', 'job.yaml');
    const startLeader = () => start(url, 'run', 'job.yaml', '--json');
    const crew: Crew = {
      workers: Array.from({ length: WORKERS }, (_, at) => startWorker(at)),
      leader: startLeader(),
      pauses: [],
    };
    const endOne = async (victim: Victim) => {
      const at = pick(random, WORKERS);
      if (victim === 'leader') {
        crew.leader.signal('SIGKILL');
        await crew.leader.ended;
        crew.leader = startLeader();
      } else if (victim === 'server') {
        await server.stop(random() < 0.5 ? 'immediate' : 'kill');
        await sleep(random() * 500);
        await server.start();
      } else if (victim === 'worker') {
        await untilWorking(crew.workers[at]);
        crew.workers[at]?.signal('SIGKILL');
        await crew.workers[at]?.ended;
        crew.workers[at] = startWorker(at);
      } else crew.pauses.push(victim === 'paused' ? pause(crew.workers[at]) : cutOff(proxies[at]));
    };
    const ended: Record<Victim, number> = { worker: 0, leader: 0, server: 0, paused: 0, cutOff: 0 };
    for (let kill = 0; kill < kills && !(await isFinished(crew.leader)); kill++) {
      await sleep(random() * 900);
      const victim = chooseVictim(random);
      ended[victim] += 1;
      await endOne(victim);
    }
    await Promise.all(crew.pauses);
    await leadToTheEnd(crew, startLeader);
    const { workers } = crew;
    for (const worker of workers) worker.signal('SIGTERM');
    const inDoubt = await judge(directory, job, { sandbox, kills: ended });
    const rows = job.steps.reduce((sum, step) => sum + step.rows.length, 0);
    return { ended, rows, requests: [...sandbox.readRequests()].length, inDoubt };
  } finally {
    for (const life of lives) life.signal('SIGCONT');
    for (const life of lives) life.signal('SIGKILL');
    await Promise.all([...lives].map((life) => life.ended));
    await Promise.all(closing.map((proxy) => proxy.close()));
    await sandbox.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Crew {
  readonly workers: Life[];
  leader: Life;
  /** Workers that are paused. */
  readonly pauses: Promise<void>[];
}

async function leadToTheEnd(crew: Crew, startLeader: () => Life): Promise<void> {
  for (let tries = 0; ; tries++) {
    const { code, stderr, stdout } = await crew.leader.ended;
    if (code === 0 || code === 1 || code === 3) return;
    // After a signal the code is null.
    if ((code !== 75 && code !== null) || tries > 20) {
      throw new Violation(`the leader ended with ${code}: ${stdout} ${stderr.slice(-2000)}`);
    }
    crew.leader = startLeader();
  }
}

/** A process that only begins has nothing to lose. */
async function untilWorking(worker: Life | undefined): Promise<void> {
  if (worker === undefined) return;
  await waitFor(worker, () => worker.stderr.includes('"event":"work"'), { timeoutMs: 5_000 });
  await sleep(100);
}

/** Ended with a code that says so. */
async function isFinished(leader: Life): Promise<boolean> {
  if (!leader.isOver) return false;
  const { code } = await leader.ended;
  return code === 0 || code === 1 || code === 3;
}

async function pause(worker: Life | undefined): Promise<void> {
  if (worker?.signal('SIGSTOP') !== true) return;
  await sleep(PAUSE_MS);
  worker.signal('SIGCONT');
}

/** Its packets go nowhere for longer than a lease. */
async function cutOff(proxy: DatabaseProxy | undefined): Promise<void> {
  const end = proxy?.freeze();
  await sleep(PAUSE_MS);
  end?.();
}

function chooseVictim(random: Random): Victim {
  let left = random() * Object.values(VICTIMS).reduce((sum, weight) => sum + weight, 0);
  for (const [victim, weight] of Object.entries(VICTIMS)) {
    left -= weight;
    if (left < 0) return victim as Victim;
  }
  return 'worker';
}

function writeJob(directory: string, { text, steps }: KillJob, random: Random): void {
  for (const step of steps) writeFileSync(join(directory, step.file), writeCsv(step));
  const sendHere = random() < 0.5;
  const cluster = { database: { env: 'VOLLEY_DATABASE_URL' }, leaseSeconds: LEASE_SECONDS, sendHere };
  writeFileSync(join(directory, 'job.yaml'), JSON.stringify({ ...JSON.parse(text), cluster }));
}

async function judge(
  directory: string,
  { steps }: KillJob,
  { sandbox, kills }: { sandbox: Awaited<ReturnType<typeof startSandbox>>; kills: Ended },
): Promise<number> {
  const run = findRun(join(directory, 'out/sale'));
  if (run === undefined) throw new Violation('there is no run');
  const ledger = [];
  for await (const entry of sandbox.readLedger()) ledger.push(entry);
  const openRows = new Set<string>();
  for (const step of steps) {
    const file = readFileSync(join(run, `${step.number}-${step.kind}.in-doubt.csv`), 'utf8');
    const inDoubt = new Set((parse(file, { columns: true }) as { _row: string }[]).map(({ _row }) => Number(_row)));
    let planned = 0;
    for (const [index, row] of step.rows.entries()) {
      if (inDoubt.has(index + 1)) openRows.add(`${step.number} ${planned}`);
      if (row.fate === 'planned') planned += 1;
    }
  }
  checkAccount(run, steps, { ledger, openRows });
  const ends = kills.worker + kills.leader + kills.paused + kills.cutOff + kills.server * (WORKERS + 1);
  const most = ends * MAX_CONCURRENCY * MAX_BATCH;
  if (openRows.size > most) throw new Violation(`${openRows.size} rows are in doubt, more than ${most} were under way`);
  return openRows.size;
}
