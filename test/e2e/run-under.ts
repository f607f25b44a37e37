import { execFile } from 'node:child_process';
import type { Workspace } from './a-workspace.js';
import { COMMAND, type Ended } from './command.js';

/** `volley run job.yaml` of a workspace, started by another program: `strace …`, `sh -c 'ulimit …; exec "$@"' sh`. */
export function runUnder(
  workspace: Workspace,
  [program = '', ...args]: readonly string[],
  { nodeArguments = [], env = {} }: { nodeArguments?: readonly string[]; env?: Readonly<Record<string, string>> } = {},
): Promise<Ended> {
  const command = [process.execPath, ...nodeArguments, COMMAND, 'run', 'job.yaml'];
  const keys = { PATH: process.env.PATH ?? '', VOLLEY_API_KEY: workspace.sandbox.credentials.apiKey };
  return new Promise((resolve) => {
    const child = execFile(
      program,
      [...args, ...command],
      { cwd: workspace.directory, env: { ...keys, ...env } },
      (_, stdout, stderr) => resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr }),
    );
  });
}

/** Under a limit of the shell's own, such as `-f 8`. */
export function underLimit(limit: string): string[] {
  return ['sh', '-c', `ulimit ${limit}; exec "$@"`, 'sh'];
}
