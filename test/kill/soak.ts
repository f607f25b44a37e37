import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Summary } from '../../src/report/summary.js';
import { createRandom, type Random } from '../../src/sandbox/random.js';
import { SandboxProcess, sandboxOf } from '../sandbox/sandbox-process.js';
import { Violation } from '../world/violation.js';
import { checkAccount, checkPrepared, findRun } from './account.js';
import { createKillJob, type KillJob, pick, writeCsv } from './job.js';
import { type JournalFacts, readJournalFacts } from './journal-facts.js';
import { type Ended, Life, sleep, waitFor } from './life.js';

export interface SoakOptions {
  /** The built command: dist/cli.js. */
  readonly command: string;
  /** Says the job and the moments; what a process had done by then is the machine's affair. */
  readonly seed: number;
  readonly kills: number;
  readonly signal: 'SIGKILL' | 'SIGTERM';
}

export interface Soaked {
  readonly kills: number;
  readonly requests: number;
  readonly rows: number;
  readonly inDoubt: number;
  /** From SIGTERM to the end of the process. */
  readonly slowestEndMs: number;
}

/** Without a kill, so many runs at most bring a job to its end: a webhook that may exist is a reason to stop, once each. */
const LIVES_TO_FINISH = 4;
const DONE: readonly (number | null)[] = [0, 1, 3];
/** Long enough for requests to be in flight when a kill comes. */
const ANSWER_MS = 80;
const NO_JOURNAL: JournalFacts = { openRows: [], isPreparing: false, saidUnknown: 0, isFinished: false };

/** Soaks one job after the other, `atOnce` of them beside each other, until there were so many kills. */
export async function soakMany(
  options: Omit<SoakOptions, 'seed'> & {
    /** The seed of the first job; each job has one. */
    readonly from: number;
    readonly killsAJob: number;
    readonly atOnce: number;
  },
): Promise<Soaked & { jobs: number; failures: readonly { readonly seed: number; readonly message: string }[] }> {
  const { kills, from, killsAJob, atOnce } = options;
  const soaked: Soaked[] = [];
  const failures: { seed: number; message: string }[] = [];
  let left = kills;
  let nextSeed = from;
  const soakOneByOne = async () => {
    while (left > 0) {
      const share = Math.min(left, killsAJob);
      const seed = nextSeed++;
      left -= share;
      try {
        const done = await soak({ ...options, seed, kills: share });
        soaked.push(done);
        // A job that came to its end before its last kill leaves the others to the next one.
        left += share - done.kills;
      } catch (error) {
        failures.push({ seed, message: error instanceof Error ? error.message : String(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, soakOneByOne));
  const sum = (key: keyof Soaked) => soaked.reduce((total, one) => total + one[key], 0);
  return {
    ...{
      jobs: soaked.length,
      kills: sum('kills'),
      requests: sum('requests'),
      rows: sum('rows'),
      inDoubt: sum('inDoubt'),
    },
    slowestEndMs: Math.max(0, ...soaked.map((one) => one.slowestEndMs)),
    failures,
  };
}

/**
 * Runs one job, ends its process again and again, lets it finish, and holds its outputs against the ledger. Throws a Violation where
 * a promise does not hold.
 */
async function soak(options: SoakOptions): Promise<Soaked> {
  const directory = mkdtempSync(join(tmpdir(), 'volley-kill-'));
  let sandbox: SandboxProcess | undefined;
  try {
    sandbox = await SandboxProcess.start(directory, sandboxOf(options.command, '--data', 'sandbox'));
    await sandbox.setFaults({ kind: 'latency', delayMs: ANSWER_MS });
    return await new Soak(options, directory, sandbox).run();
  } finally {
    await sandbox?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

class Soak {
  readonly #options: SoakOptions;
  readonly #directory: string;
  readonly #jobDirectory: string;
  readonly #sandbox: SandboxProcess;
  readonly #job: KillJob;
  readonly #open = new Set<string>();
  #kills = 0;
  #slowestEndMs = 0;

  constructor(options: SoakOptions, directory: string, sandbox: SandboxProcess) {
    this.#options = options;
    this.#directory = directory;
    this.#jobDirectory = join(directory, 'out/sale');
    this.#sandbox = sandbox;
    const { seed, kills } = options;
    this.#job = createKillJob(createRandom(seed), { origin: sandbox.origin, seconds: kills * 0.25 });
    writeFileSync(join(directory, 'job.yaml'), this.#job.text);
    for (const step of this.#job.steps) writeFileSync(join(directory, step.file), writeCsv(step));
  }

  async run(): Promise<Soaked> {
    let code: number | null = null;
    while (this.#kills < this.#options.kills && !DONE.includes(code)) code = await this.#interrupt();
    for (let lives = 1; !DONE.includes(code); lives++) {
      const { isPreparing } = this.#readFacts();
      const ended = await this.#start().ended;
      code = ended.code;
      this.#checkEnd(ended, isPreparing);
      if (lives > LIVES_TO_FINISH) throw new Violation(`the run does not end: ${describe(ended)}`);
    }
    const ledger = await this.#sandbox.readLedger();
    const requests = await this.#sandbox.countRequests();
    const run = findRun(this.#jobDirectory) ?? '';
    const summary = checkAccount(run, this.#job.steps, { ledger, openRows: this.#open });
    checkPrepared(ledger, this.#readFacts().saidUnknown);
    checkExitCode(summary);
    await this.#checkNothingMore(requests);
    const { read: rows, inDoubt } = summary.balance;
    return { kills: this.#kills, requests, rows, inDoubt, slowestEndMs: this.#slowestEndMs };
  }

  #start(): Life {
    const { apiKey, gatewayKey } = this.#sandbox.credentials;
    const env = { VOLLEY_API_KEY: apiKey, VOLLEY_GATEWAY_KEY: gatewayKey };
    return new Life(this.#options.command, ['run', 'job.yaml'], { cwd: this.#directory, env });
  }

  /** One life, to its end by the signal or before it. Gives its exit code. */
  async #interrupt(): Promise<number | null> {
    const random = createRandom(this.#options.seed, 1 + this.#kills);
    const { isPreparing } = this.#readFacts();
    const life = this.#start();
    await this.#awaitMoment(life, random);
    const sentMs = performance.now();
    const isSent = !life.isOver && life.signal(this.#options.signal);
    const ended = await life.ended;
    if (isSent) this.#slowestEndMs = Math.max(this.#slowestEndMs, performance.now() - sentMs);
    const isEnded = ended.signal === this.#options.signal || (isSent && this.#options.signal === 'SIGTERM');
    if (isEnded) this.#kills += 1;
    this.#checkEnd(ended, isPreparing);
    const { openRows } = this.#readFacts();
    for (const row of openRows) this.#open.add(row);
    return ended.code;
  }

  /** The last kills go into the writing of outputs; the first ones into planning, until there is a plan. */
  async #awaitMoment(life: Life, random: Random): Promise<void> {
    const { kills } = this.#options;
    const before = this.#journalBytes();
    const growth = 1 + pick(random, 12_000);
    const hasPlan = findRun(this.#jobDirectory) !== undefined;
    const hasChannel = this.#job.steps.some(({ kind }) => kind === 'conversations');
    const chance = random();
    if (this.#kills >= kills - Math.ceil(kills * 0.15)) {
      await waitFor(life, () => this.#isReporting(life), { timeoutMs: 120_000 });
      await sleep(pick(random, 15));
    } else if (chance < 0.1) {
      await sleep(pick(random, 700));
    } else if (chance < 0.6 && !hasPlan && this.#kills < kills * 0.3) {
      await waitFor(life, () => this.#isPlanning(life), { timeoutMs: 10_000 });
      await sleep(pick(random, 20));
    } else if (chance < 0.35 && hasPlan && hasChannel) {
      await waitFor(life, () => this.#readFacts().isPreparing, { timeoutMs: 3000 });
      await sleep(pick(random, 2 * ANSWER_MS));
    } else {
      await waitFor(life, () => this.#journalBytes() > before + growth, { timeoutMs: 3000 });
      await sleep(pick(random, 15));
    }
  }

  #isPlanning({ pid }: Life): boolean {
    return listNames(this.#jobDirectory).some((name) => name.endsWith(`-${pid}.part`));
  }

  #isReporting({ pid }: Life): boolean {
    return this.#readLock()?.pid === pid && this.#readFacts().isFinished;
  }

  #journalBytes(): number {
    const run = findRun(this.#jobDirectory);
    return run === undefined ? 0 : (statSync(join(run, 'journal.ndjson'), { throwIfNoEntry: false })?.size ?? 0);
  }

  #readFacts(): JournalFacts {
    const run = findRun(this.#jobDirectory);
    if (run === undefined || !existsSync(join(run, 'journal.ndjson'))) return NO_JOURNAL;
    return readJournalFacts(readFileSync(join(run, 'journal.ndjson')));
  }

  #readLock(): { pid: number; state: string } | undefined {
    const name = listNames(this.#jobDirectory)
      .filter((each) => /^lock-\d+\.json$/.test(each))
      .at(-1);
    if (name === undefined) return undefined;
    const [owner = ''] = readFileSync(join(this.#jobDirectory, name), 'utf8').split('\n');
    // '' where its process was killed between making it and writing it.
    return owner === '' ? undefined : JSON.parse(owner);
  }

  /** A process ends by the signal, stopped by it, or done; or with a webhook or channel that may exist, which it must say. */
  #checkEnd(ended: Ended, wasPreparing: boolean): void {
    const { code, signal, stdout } = ended;
    if (DONE.includes(code) || signal === 'SIGKILL') return;
    if (this.#options.signal === 'SIGTERM') {
      const { openRows } = this.#readFacts();
      if (openRows.length > 0) throw new Violation(`it was asked to stop, and left ${openRows.length} rows open`);
      if (code === 75) return;
      // Node itself ends a process that does not listen yet, or no longer; then it must not hold the lock.
      if (signal === 'SIGTERM' && this.#readLock()?.state !== 'held') return;
    }
    if (code === 4 && wasPreparing && stdout.includes('may have succeeded')) return;
    throw new Violation(`the command ends with ${describe(ended)}`);
  }

  async #checkNothingMore(requests: number): Promise<void> {
    const ended = await this.#start().ended;
    // Rows in doubt are named until they are settled.
    const { openDoubt } = JSON.parse(ended.stdout);
    if (ended.code !== (openDoubt.rows > 0 ? 3 : 0))
      throw new Violation(`a finished run repeated ends with ${describe(ended)}`);
    if ((await this.#sandbox.countRequests()) !== requests) throw new Violation('a finished run repeated sends');
  }
}

function checkExitCode({ balance, exitCode }: Summary): void {
  const expected = balance.inDoubt > 0 ? 3 : balance.rejected > 0 ? 1 : 0;
  if (exitCode !== expected) throw new Violation(`the exit code is ${exitCode}, expected ${expected}`);
}

function describe({ code, signal, stdout, stderr }: Ended): string {
  return `${code ?? signal}: ${stdout}${stderr}`;
}

function listNames(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory).sort() : [];
}
