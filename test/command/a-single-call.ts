import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createContext } from '../../src/command/context.js';
import { byArea } from '../../src/domain/areas.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import { runCommandLine } from '../../src/verbs/command-line.js';
import { ALL_CREDENTIALS, anSmsStep } from '../job/a-job-file.js';
import { aFolder } from '../plan/a-plan.js';
import { aTerminal } from './a-terminal.js';

/** Where the credentials are found. */
export const KEYS = {
  CONNECT_KEY: 'sandbox-test-key-not-a-secret',
  GATEWAY_KEY: 'sandbox-gateway-key-not-a-secret',
  CHAT_KEY: 'sandbox-chat-key-not-a-secret',
  DATA_TOKEN: 'sandbox-data-token-not-a-secret',
  ACTION_TOKEN: 'sandbox-action-token-not-a-secret',
};

/** A sandbox that ends with the test. */
export async function aSandbox(): Promise<Sandbox> {
  const sandbox = await startSandbox({ rateLimits: {} });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** A directory with a job file, and a terminal that remembers what was said and can give signals. */
export function aCaller(service: Record<string, unknown>, env: Record<string, string> = KEYS) {
  const directory = aFolder();
  const job = join(directory, 'calls.yaml');
  writeFileSync(job, JSON.stringify({ service, steps: [anSmsStep()], output: join(directory, 'out') }));
  const { terminal, said, listeners, signal } = aTerminal({ env });
  return {
    directory,
    job,
    said,
    terminal,
    /** For what a verb calls; each command has one of its own. */
    context: () => createContext(terminal),
    /** Runs a verb that makes a single call, as it is typed. Its exit code; rejects with what it throws. */
    run: (...words: string[]) => runCommandLine([...words, '--job', job], terminal, 100),
    listeners,
    signal: (name = 'SIGINT') => signal(name),
    /** The JSON of the last command. */
    json: () => JSON.parse(said.stdout.trimEnd().split('\n').at(-1) ?? ''),
  };
}

/** A caller with a sandbox of its own as the service, and the requests that arrived there; `changes` of the service in its job. */
export async function aSandboxCaller(changes: Record<string, unknown> = {}) {
  const sandbox = await aSandbox();
  return { ...aCaller(aService(sandbox.origin, changes)), sandbox, requests: () => [...sandbox.readRequests()] };
}

/** A job that calls a server of the test as the whole service. */
export function aService(origin: string, changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { account: 'acme', credentials: ALL_CREDENTIALS, bases: byArea(() => origin), ...changes };
}
