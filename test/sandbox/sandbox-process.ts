import type { TEST_CREDENTIALS } from '../../src/sandbox/admission.js';
import type { FaultInput } from '../../src/sandbox/fault.js';
import type { LedgerEntry } from '../../src/sandbox/ledger.js';
import type { RequestEntry } from '../../src/sandbox/sandbox-server.js';
import { Life, waitFor } from '../kill/life.js';

const START_TIMEOUT_MS = 60_000;

/** A script of node and what it is given. */
export type Program = readonly [script: string, ...args: string[]];

/** `volley sandbox` by the built command, on any port. It keeps all in memory, unless `--data` says where. */
export function sandboxOf(command: string, ...more: string[]): Program {
  return [command, 'sandbox', '--port', '0', ...more];
}

/** The sandbox, or a program that passes for one, in a process of its own: it lives on when the command is killed. */
export class SandboxProcess {
  readonly origin: string;
  readonly credentials: typeof TEST_CREDENTIALS;
  readonly #life: Life;

  static async start(directory: string, [script, ...args]: Program): Promise<SandboxProcess> {
    const life = new Life(script, args, { cwd: directory, env: {} });
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
    this.credentials = credentials;
  }

  async setFaults(...faults: FaultInput[]): Promise<void> {
    await this.#ask('/faults', { method: 'POST', body: JSON.stringify(faults) });
  }

  async countRequests(): Promise<number> {
    return JSON.parse(await this.#ask('')).requests;
  }

  /** In the order in which they arrived. */
  async readRequests(): Promise<RequestEntry[]> {
    return parseLines(await this.#ask('/requests'));
  }

  async readLedger(): Promise<LedgerEntry[]> {
    return parseLines(await this.#ask('/ledger'));
  }

  async stop(): Promise<void> {
    this.#life.signal('SIGKILL');
    await this.#life.ended;
  }

  async #ask(path: string, init?: { method: string; body: string }): Promise<string> {
    const address = `${this.origin}/_sandbox${path}`;
    const response = await fetch(address, init);
    if (!response.ok) throw new Error(`The sandbox answers ${response.status} to ${address}: ${await response.text()}`);
    return response.text();
  }
}

/** Runs the task beside a process of its own: none meets what another left. It is ended after the task. */
export async function withSandbox<T>(
  directory: string,
  program: Program,
  task: (sandbox: SandboxProcess) => Promise<T>,
): Promise<T> {
  const sandbox = await SandboxProcess.start(directory, program);
  try {
    return await task(sandbox);
  } finally {
    await sandbox.stop();
  }
}

function parseLines(text: string) {
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}
