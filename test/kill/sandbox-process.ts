import type { FaultInput } from '../../src/sandbox/faults/fault.js';
import type { LedgerEntry } from '../../src/sandbox/ledger/page.js';
import { Life, waitFor } from './life.js';

/** The sandbox in a process of its own, which lives on when the command is killed. */
export class SandboxProcess {
  readonly origin: string;
  /** Environment in which the job finds its keys. */
  readonly keys: Readonly<Record<'VOLLEY_API_KEY' | 'VOLLEY_GATEWAY_KEY', string>>;
  readonly #life: Life;

  static async start(command: string, directory: string): Promise<SandboxProcess> {
    const life = new Life(command, ['sandbox', '--port', '0', '--data', 'sandbox'], { cwd: directory, env: {} });
    if (!(await waitFor(life, () => life.stdout.includes('\n'), { timeoutMs: 60_000 }))) {
      life.signal('SIGKILL');
      throw new Error(`The sandbox does not start: ${(await life.ended).stderr}`);
    }
    return new SandboxProcess(life);
  }

  private constructor(life: Life) {
    const { origin, credentials } = JSON.parse(life.stdout);
    this.#life = life;
    this.origin = origin;
    this.keys = { VOLLEY_API_KEY: credentials.apiKey, VOLLEY_GATEWAY_KEY: credentials.gatewayKey };
  }

  async setFaults(...faults: FaultInput[]): Promise<void> {
    await this.#ask('faults', { method: 'POST', body: JSON.stringify(faults) });
  }

  async countRequests(): Promise<number> {
    const { requests } = JSON.parse(await this.#ask(''));
    return requests;
  }

  async readLedger(): Promise<LedgerEntry[]> {
    const text = await this.#ask('ledger');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }

  async stop(): Promise<void> {
    this.#life.signal('SIGKILL');
    await this.#life.ended;
  }

  async #ask(path: string, init?: { method: string; body: string }): Promise<string> {
    const address = path === '' ? `${this.origin}/_sandbox` : `${this.origin}/_sandbox/${path}`;
    const response = await fetch(address, init);
    if (!response.ok) throw new Error(`The sandbox answers ${response.status} to ${address}: ${await response.text()}`);
    return response.text();
  }
}
