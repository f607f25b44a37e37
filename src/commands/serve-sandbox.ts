import type { Terminal } from '../command/terminal.js';
import { UserError } from '../domain/errors.js';
import { startSandbox } from '../sandbox/sandbox.js';

export interface SandboxFlags {
  /** 0: any free port. */
  readonly port: number;
  readonly host: string;
  readonly data: string | undefined;
  /** Receipts and events go to any address, not to loopback alone. */
  readonly deliverOutside: boolean;
}

/** `volley sandbox`: the service itself on a local port, until a signal. Its first line on stdout is JSON, and says whether anything may leave this machine. */
export async function serveSandbox(flags: SandboxFlags, terminal: Terminal): Promise<number> {
  const { port, host, data, deliverOutside: deliversOutside } = flags;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new UserError('bad-flag', `Cannot listen on port ${port}, expected 0 to 65535`);
  }
  const dataDirectory = data === undefined ? {} : { dataDirectory: data };
  const sandbox = await startSandbox({ port, host, deliversOutside, ...dataDirectory });
  try {
    const ended = new Promise<void>((resolve) => {
      terminal.onSignal(() => resolve());
    });
    const { origin, credentials } = sandbox;
    const ready = { state: 'listening', exitCode: null, error: null, origin, credentials, deliversOutside };
    await terminal.writeStdout(`${JSON.stringify(ready)}\n`);
    await ended;
  } finally {
    await sandbox.close();
  }
  return 0;
}
