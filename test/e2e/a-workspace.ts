import { execFile } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { readRunName } from '../../src/plan/format/run-directories.js';
import { systemClock } from '../../src/ports/clock.js';
import type { Summary } from '../../src/report/summary.js';
import type { FaultInput } from '../../src/sandbox/fault.js';
import type { LedgerEntry } from '../../src/sandbox/ledger.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import type { RequestEntry } from '../../src/sandbox/sandbox-server.js';
import type { SmsEntry } from '../../src/sandbox/sms/batch-schema.js';
import { Client } from '../sandbox/sandbox-client.js';
import { aJob, aJobOfAreas } from './a-job.js';
import { COMMAND, type Ended, Running, readFailure, type Start as Starting } from './command.js';
import { type InProcess, runCommandInProcess } from './command-in-process.js';
import { closeAfterFile } from './opened.js';

/** The command's end, with what it printed on stdout. */
export interface Finished extends Ended {
  /** Only for commands that print a summary. */
  readonly summary: Summary;
}

type Changed = Partial<Omit<InProcess, 'cwd'>>;
type Start = Partial<Omit<Starting, 'cwd'>>;

/** A directory for a job and its files, and a sandbox beside it that the job sends to. */
export class Workspace {
  readonly directory: string;
  readonly sandbox: Sandbox;
  /** Of the sandbox, beside the commands. */
  readonly client: Client;
  readonly #running = new Set<Running>();

  constructor(directory: string, sandbox: Sandbox) {
    this.directory = directory;
    this.sandbox = sandbox;
    this.client = new Client(sandbox);
  }

  get env(): Readonly<Record<string, string>> {
    return { PATH: process.env.PATH ?? '', VOLLEY_API_KEY: this.sandbox.credentials.apiKey };
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  write(name: string, content: string | Uint8Array): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), content);
  }

  append(name: string, content: string): void {
    appendFileSync(this.path(name), content);
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8');
  }

  /** JSON is YAML. */
  writeJob(job: object, name = 'job.yaml'): void {
    this.write(name, JSON.stringify(job));
  }

  /** The job as it is from now on: `aJob` with these changes. */
  change(changes: Parameters<typeof aJob>[1] = {}, name?: string): void {
    this.writeJob(aJob(this, changes), name);
  }

  /** Names of the directories in that of the job `sale`: its runs, and what a plan that was cut short left behind. */
  directories(): string[] {
    return readdirSync(this.path('out/sale'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  }

  /** Run directories of the job `sale`. */
  runs(): string[] {
    return this.directories().filter((name) => !name.startsWith('.') && name !== 'claims');
  }

  /** Their plan ids. */
  plans(): string[] {
    return this.runs().map(readRunName);
  }

  /** The run directory of a plan id. */
  runOf(plan: string): string {
    return `out/sale/${this.runs().find((name) => readRunName(name) === plan)}`;
  }

  /** The directory of its first run, or of its only one. */
  firstRun(): string {
    return `out/sale/${this.runs()[0]}`;
  }

  start(args: readonly string[], { env, ...start }: Start = {}): Running {
    const running = new Running(args, { cwd: this.directory, env: { ...this.env, ...env }, ...start });
    this.#running.add(running);
    return running;
  }

  /** `volley run job.yaml`, started by another program: `strace …`, `sh -c 'ulimit …; exec "$@"' sh`. */
  runUnder(
    [program = '', ...args]: readonly string[],
    { nodeArguments = [], env = {} }: Pick<Start, 'nodeArguments' | 'env'> = {},
  ): Promise<Ended> {
    const command = [process.execPath, ...nodeArguments, COMMAND, 'run', 'job.yaml'];
    return new Promise((resolve) => {
      const child = execFile(
        program,
        [...args, ...command],
        { cwd: this.directory, env: { ...this.env, ...env } },
        (_, stdout, stderr) => resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr }),
      );
    });
  }

  async finish(running: Pick<Running, 'ended'>): Promise<Finished> {
    const ended = await running.ended;
    return {
      ...ended,
      get summary() {
        // Beside the figures, stdout says why a run stopped.
        const { error: _error, ...summary } = JSON.parse(ended.stdout);
        return summary as Summary;
      },
    };
  }

  volley(...args: string[]): Promise<Finished> {
    return this.finish(this.start(args));
  }

  /** `volley run job.yaml` */
  run(...flags: string[]): Promise<Finished> {
    return this.volley('run', 'job.yaml', ...flags);
  }

  /** What a command prints on stdout, as an object. */
  async told(...args: string[]): Promise<ReturnType<typeof JSON.parse>> {
    return JSON.parse((await this.volley(...args)).stdout);
  }

  /** What a person reads on stdout, on one line. */
  async said(...args: string[]): Promise<string> {
    return (await this.volley(...args, '--no-json')).stdout.replace(/\s+/g, ' ');
  }

  /** Ends without its result, with this exit code; its error has this code, and this in its message. */
  async expectRefused(args: readonly string[], exitCode: number, code: string, said: string | RegExp = /./) {
    const failure = await this.refused(...args);
    const message = typeof said === 'string' ? expect.stringContaining(said) : expect.stringMatching(said);
    expect({ args, ...failure }).toMatchObject({ args, exitCode, error: { code, message } });
    return failure.error;
  }

  /** What a command prints that ends without its result. */
  async refused(...args: string[]): Promise<ReturnType<typeof readFailure>> {
    return readFailure(await this.volley(...args));
  }

  /** Plans the job; gives the directory of its plan. */
  async plan(...flags: string[]): Promise<string> {
    return (await this.told('plan', 'job.yaml', ...flags)).directory;
  }

  /** What `volley retry` prints. */
  retry(run: string, only: string, ...flags: string[]): ReturnType<Workspace['told']> {
    return this.told('retry', run, '--only', only, ...flags);
  }

  /** Sends what a retry takes. */
  async resend(run: string, only: string, ...flags: string[]): Promise<Finished> {
    const { state, directory } = await this.retry(run, only, ...flags);
    if (state !== 'planned') throw new Error(`There is nothing to send again: ${state}`);
    return this.volley('apply', directory);
  }

  /** Decides on so many rows in doubt of a run. */
  settle(run: string, assume: 'sent' | 'not-sent', rows: number): Promise<Finished> {
    return this.volley('settle', run, '--assume', assume, '--confirm', String(rows));
  }

  /** The messages of a number, as `volley people show` has them. */
  async messagesTo(number: string): Promise<{ state: string; text: string }[]> {
    return (await this.told('people', 'show', 'job.yaml', number)).messages;
  }

  setFaults(...faults: FaultInput[]): void {
    this.sandbox.setFaults(faults);
  }

  requests(): RequestEntry[] {
    return [...this.sandbox.readRequests()];
  }

  ledger(): Promise<LedgerEntry[]> {
    return this.client.ledger();
  }

  sms(): Promise<SmsEntry[]> {
    return this.client.entries('sms');
  }

  /** Destinations in the ledger, sorted: each once when nothing was sent twice. */
  async destinations(): Promise<string[]> {
    return (await this.sms()).map((entry) => entry.destination).sort();
  }

  async close(): Promise<void> {
    for (const running of this.#running) running.signal('SIGKILL');
    await Promise.all([...this.#running].map((running) => running.ended));
    await this.sandbox.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** `start` starts a process here, too; all other commands run in this one, for tests that are not about the process. */
class WorkspaceInProcess extends Workspace {
  override volley(...args: string[]): Promise<Finished> {
    return this.finish({ ended: runCommandInProcess(args, { cwd: this.directory, env: this.env }) });
  }
}

/** In this process, with other variables, or on a world that the test changes. */
export function volleyIn(workspace: Workspace, start: Changed, ...args: string[]): Promise<Finished> {
  const env = { ...workspace.env, ...start.env };
  return workspace.finish({ ended: runCommandInProcess(args, { ...start, cwd: workspace.directory, env }) });
}

/** In this process, by a wall clock that is so far ahead. */
export function volleyLater(workspace: Workspace, aheadMs: number, ...args: string[]): Promise<Finished> {
  return volleyIn(workspace, { runtime: { clock: { ...systemClock, now: () => Date.now() + aheadMs } } }, ...args);
}

/** Beside `acme`, with the same key. */
export const OTHER_ACCOUNT = { account: 'umbrella', subAccountIds: ['umbrella_hq'] } as const;

/** A workspace of the test's own, gone when the tests of the file are over. */
export function aWorkspace(...faults: FaultInput[]): Promise<Workspace> {
  return openWorkspace(Workspace, faults);
}

/** One whose commands run in this process, one at a time; those that `start` starts have one of their own. */
export function aWorkspaceInProcess(...faults: FaultInput[]): Promise<Workspace> {
  return openWorkspace(WorkspaceInProcess, faults);
}

/** One that has a job for the people of people.csv; `changes`: of the job. */
export async function aJobFor(people: string, changes: Parameters<typeof aJob>[1] = {}, ...faults: FaultInput[]) {
  const workspace = await aWorkspaceInProcess(...faults);
  workspace.write('people.csv', people);
  workspace.writeJob(aJob(workspace, changes));
  return workspace;
}

/** One whose job has steps of any area. */
export async function aJobOfSteps(people: string, steps: readonly object[], ...faults: FaultInput[]) {
  const workspace = await aJobFor(people, {}, ...faults);
  workspace.writeJob(aJobOfAreas(workspace, steps));
  return workspace;
}

/** One whose commands run in this process, beside a sandbox with these options. */
export function aWorkspaceBeside(options: SandboxOptions): Promise<Workspace> {
  return openWorkspace(WorkspaceInProcess, [], options);
}

async function openWorkspace(kind: typeof Workspace, faults: readonly FaultInput[], options: SandboxOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'volley-e2e-'));
  const sandbox = { rateLimits: {}, faults: [...faults], accounts: [OTHER_ACCOUNT], ...options };
  const workspace = new kind(directory, await startSandbox(sandbox));
  closeAfterFile(workspace);
  return workspace;
}

type SandboxOptions = NonNullable<Parameters<typeof startSandbox>[0]>;
