#!/usr/bin/env node
import type { Terminal } from './commands/terminal.js';

/**
 * Verbs → commands. The only reader of argv and env, the only process.exit. It loads all else by `import()`, for that
 * fails where no more files may be opened, and no failure may end with node's own exit code 1, which says "finished".
 * A command is loaded when its verb is asked for, so that `--help` loads no HTTP client, no CSV parser and no server.
 */
const terminal: Terminal = {
  env: process.env,
  // Opened by who reads it.
  get stdin() {
    return process.stdin;
  },
  isStdoutTerminal: process.stdout.isTTY === true,
  isStderrTerminal: process.stderr.isTTY === true,
  screen: {
    get columns() {
      return process.stdout.columns ?? 80;
    },
    ...nameCaller(),
  },
  writeStdout: (text) =>
    new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
    }),
  writeStderr: (text) => {
    process.stderr.write(text);
  },
  onSignal: (listener) => {
    const names = ['SIGINT', 'SIGTERM'] as const;
    for (const name of names) process.on(name, listener);
    return () => {
      for (const name of names) process.off(name, listener);
    };
  },
  leave: (exitCode) => process.exit(exitCode),
};

/** Where and how this was called, so that the commands it prints can be copied: in a checkout there is no `volley` on the path. */
function nameCaller(): { directory: string; command: string } {
  const [, script = ''] = process.argv;
  const { npm_command: npm, npm_lifecycle_event: event } = process.env;
  const directory = currentDirectory();
  if (npm === 'exec' || event === 'start') return { directory, command: 'npx volley' };
  if (!script.endsWith('cli.js')) return { directory, command: 'volley' };
  const isBelow = directory !== '' && script.startsWith(`${directory}/`);
  return { directory, command: `node ${isBelow ? script.slice(directory.length + 1) : script}` };
}

/** '' where it was removed. */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return '';
  }
}

type Printer = typeof import('./commands/print-error.js');

let printer: Printer | undefined;

/** Runs a command; its number is the exit code, and so is that of what it throws. */
async function finish(command: Promise<number>): Promise<void> {
  // Up front: once the command has failed, there may be no file left to load it with.
  const loading = Promise.all([loadPrinter(), putOffOptimizing()]);
  try {
    process.exitCode = await command;
  } catch (error) {
    await loading;
    fail(error);
  }
}

/**
 * The HTTP client parses answers by WebAssembly, which Node 20 optimizes in the background once it has read some kilobytes. A process
 * that ends meanwhile waits for that, a tenth of a short run. This lets twenty times as much run before; later versions put it off by themselves.
 */
async function putOffOptimizing(): Promise<void> {
  if (!process.version.startsWith('v20.')) return;
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--wasm-tiering-budget=36000000');
}

async function loadPrinter(): Promise<void> {
  try {
    printer = await import('./commands/print-error.js');
  } catch {
    // What is told without it says enough.
  }
}

function fail(error: unknown): void {
  const { formatError, exitCodeOfError } = printer ?? WITHOUT_FILES;
  terminal.writeStderr(formatError(error));
  process.exitCode = exitCodeOfError(error);
}

/** In the place of print-error.ts where it could not be loaded. The error's own words may hold what nobody masks here. */
const WITHOUT_FILES: Pick<Printer, 'formatError' | 'exitCodeOfError'> = {
  formatError: (error) =>
    isOfSystem(error)
      ? `Cannot go on: ${error.code} from the system (${error.syscall})\nNothing was sent without a note of it on disk. Mend it, such as by a higher \`ulimit -n\`, then run the same command to go on.\n`
      : `Cannot go on, nor load what would say why (${nameOf(error)}): expected that files can be opened\nSee whether \`ulimit -n\` is too low, and whether volley is installed whole.\n`,
  exitCodeOfError: (error) => (isOfSystem(error) ? 75 : 4),
};

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error ? String(error.code) : error.name;
}

function isOfSystem(error: unknown): error is Error & { code: string; syscall: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

/** What Node tells, by NODE_DEBUG, with bytes that it reads (stream) or addresses that hold codes (undici, fetch). */
const TELLING = ['stream', 'undici', 'fetch'];

/** Node has read NODE_DEBUG before any of our code runs, patterns such as * included: it knows itself what it will tell. */
async function assertNodeIsSilent(): Promise<void> {
  const { debuglog } = await import('node:util');
  const told = TELLING.filter((section) => debuglog(section).enabled);
  if (told.length === 0) return;
  await loadPrinter();
  const { UserError } = await import('./errors.js');
  throw new UserError(
    'unsafe-environment',
    `Cannot start: NODE_DEBUG makes Node print people's numbers, keys that a service repeats, and codes (${told.join(', ')})`,
    { hint: 'Take that out of NODE_DEBUG; http, net, tls and worker show none of it.' },
  );
}

async function main(): Promise<void> {
  // Without a listener a closed pipe would end the process in its middle. Of stdout it is told by the write that fails;
  // a log that nobody can read any more ends no run.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  // Of a rejection that nobody handles, too. What is in flight is in doubt, as after a crash.
  process.on('uncaughtException', (error) => {
    fail(error);
    process.exit();
  });
  try {
    await assertNodeIsSilent();
    const { runCommandLine } = await import('./verbs/command-line.js');
    await runCommandLine(process.argv.slice(2), { terminal, finish }, process.stdout.columns ?? 100);
  } catch (error) {
    fail(error);
  }
}

await main();
