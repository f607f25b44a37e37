import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { describeFailure, formatError } from '../../src/command/failure.js';
import { UserError } from '../../src/domain/errors.js';
import type { Summary } from '../../src/report/summary.js';
import type { LedgerEntry } from '../../src/sandbox/ledger.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import { aTerminal } from '../command/a-terminal.js';
import { runJob } from '../command/give-verb.js';
import { expectEveryRowOnce } from '../e2e/account.js';
import { aFolder } from '../plan/a-plan.js';
import { Client } from '../sandbox/sandbox-client.js';

export interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Undefined where the command threw. */
  readonly summary: Summary | undefined;
  readonly error: unknown;
  /** Messages and contacts that the service took. */
  readonly ledger: readonly LedgerEntry[];
  readonly taken: number;
  /** That of the job file, gone once the next job begins. */
  readonly directory: string;
}

export interface JobToRun {
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  readonly steps: readonly object[];
  /** Beside name, service, steps and output. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** The service still knows what the jobs before it did. */
  readonly keepsService?: boolean;
}

/** `volley run` in this process, job after job against one sandbox, each in a directory of its own. */
export function useWholeJobs(): (job: JobToRun) => Promise<Ended> {
  let directory: string | undefined;
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox({ rateLimits: {} });
  });
  afterAll(() => sandbox?.close());
  return async ({ files, steps, more, keepsService = false }) => {
    if (directory !== undefined) rmSync(directory, { recursive: true });
    directory = aFolder(files);
    const job = {
      name: 'sale',
      service: {
        account: 'acme',
        credentials: { apiKey: { env: 'KEY' }, gateway: { apiKey: { env: 'GATEWAY_KEY' } } },
        bases: Object.fromEntries(['sms', 'contacts', 'verification', 'gateway'].map((area) => [area, sandbox.origin])),
      },
      guards: { maxFailedPercent: 100 },
      steps,
      output: 'out',
      ...more,
    };
    writeFileSync(join(directory, 'job.yaml'), JSON.stringify(job));
    if (!keepsService) await sandbox.clearLedger();
    const { apiKey, gatewayKey } = sandbox.credentials;
    const ended = await run(join(directory, 'job.yaml'), { KEY: apiKey, GATEWAY_KEY: gatewayKey });
    const ledger = await new Client(sandbox).ledger();
    return { ...ended, ledger, taken: ledger.length, directory };
  };
}

async function run(job: string, env: Record<string, string>): Promise<Omit<Ended, 'ledger' | 'taken' | 'directory'>> {
  const { terminal, said } = aTerminal({ env });
  try {
    const exitCode = await runJob({ job, json: true }, terminal);
    return { ...said, exitCode, summary: JSON.parse(said.stdout), error: undefined };
  } catch (error) {
    return { ...said, exitCode: describeFailure(error).exitCode, summary: undefined, error };
  }
}

/** A run with its account in order, or a refusal that says what and where, and has left nothing behind. Returns which. */
export function expectAccountOrRefusal(ended: Ended): 'account' | 'refusal' {
  const { error, summary, taken } = ended;
  if (summary === undefined) {
    if (!(error instanceof UserError)) throw error;
    expect(error.code).toBe('bad-input');
    expect(error.problems.length).toBeGreaterThan(0);
    for (const { where, message } of error.problems) expect([where, message]).not.toContain('');
    expect(formatError(error).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
    expect(taken).toBe(0);
    expect(listRuns(ended)).toEqual([]);
    return 'refusal';
  }
  expect(summary.state).toBe('finished');
  expectEveryRowOnce(summary);
  expect(taken).toBe(summary.balance.accepted);
  return 'account';
}

/** Run directories, and whatever a plan left behind. */
function listRuns({ directory }: Ended): string[] {
  const out = join(directory, 'out', 'sale');
  return existsSync(out) ? readdirSync(out).filter((name) => !/^(lock-|memory-|claims)/.test(name)) : [];
}
