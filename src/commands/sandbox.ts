import { UserError } from '../errors.js';
import { startSandbox } from '../sandbox/sandbox.js';
import type { Terminal } from './terminal.js';

export interface SandboxFlags {
  /** 0: any free port. */
  readonly port: number;
  readonly host: string;
  readonly data: string | undefined;
}

/** `volley sandbox`: the service itself on a local port, until a signal. Its first line on stdout is JSON. */
export async function serveSandbox(flags: SandboxFlags, terminal: Terminal): Promise<number> {
  const { port, host, data } = flags;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new UserError('bad-flag', `Cannot listen on port ${port}, expected 0 to 65535`);
  }
  const sandbox = await startSandbox({ port, host, ...(data === undefined ? {} : { dataDirectory: data }) });
  const ended = new Promise<void>((resolve) => {
    terminal.onSignal(() => resolve());
  });
  await terminal.writeStdout(`${JSON.stringify({ origin: sandbox.origin, credentials: sandbox.credentials })}\n`);
  await ended;
  await sandbox.close();
  return 0;
}
