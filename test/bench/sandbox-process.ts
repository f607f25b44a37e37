import type { RequestEntry } from '../../src/sandbox/request-log.js';
import { Life, waitFor } from '../kill/life.js';
import { COMMAND } from './bench.js';

const START_TIMEOUT_MS = 60_000;

type ProgramAndArgs = readonly [string, ...string[]];
const SANDBOX: ProgramAndArgs = [COMMAND, 'sandbox', '--port', '0'];

/** A sandbox in a process of its own that keeps all in memory: fresh for each run, so that none meets what another left. */
export class SandboxProcess {
  readonly origin: string;
  readonly apiKey: string;
  readonly #life: Life;

  static async start(directory: string, [program, ...args] = SANDBOX): Promise<SandboxProcess> {
    const life = new Life(program, args, { cwd: directory, env: {} });
    if (!(await waitFor(life, () => life.stdout.includes('\n'), { timeoutMs: START_TIMEOUT_MS }))) {
      life.signal('SIGKILL');
      throw new Error(`The sandbox does not start: ${(await life.ended).stderr}`);
    }
    return new SandboxProcess(life);
  }

  private constructor(life: Life) {
    const { origin, credentials } = JSON.parse(life.stdout);
    this.#life = life;
    this.origin = origin;
    this.apiKey = credentials.apiKey;
  }

  async countRequests(): Promise<number> {
    return JSON.parse(await this.#ask('')).requests;
  }

  /** In the order in which they arrived. */
  async readRequests(): Promise<Pick<RequestEntry, 'atMs' | 'messages'>[]> {
    const text = await this.#ask('/requests');
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  }

  async stop(): Promise<void> {
    this.#life.signal('SIGKILL');
    await this.#life.ended;
  }

  async #ask(path: string): Promise<string> {
    const address = `${this.origin}/_sandbox${path}`;
    const response = await fetch(address);
    if (!response.ok) throw new Error(`The sandbox answers ${response.status} to ${address}: ${await response.text()}`);
    return response.text();
  }
}

/** Runs the task beside a sandbox of its own, or a program that passes for one; it is ended after the task. */
export async function withSandbox<T>(
  directory: string,
  task: (sandbox: SandboxProcess) => Promise<T>,
  program = SANDBOX,
): Promise<T> {
  const sandbox = await SandboxProcess.start(directory, program);
  try {
    return await task(sandbox);
  } finally {
    await sandbox.stop();
  }
}
