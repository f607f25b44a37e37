import type { Terminal } from '../../src/command/terminal.js';

/** A terminal that remembers what is said and can give signals. Nothing is typed into it, and no command may leave at once. */
export function aTerminal({
  env = {},
  isStdoutTerminal = false,
  isStderrTerminal = true,
}: Partial<Pick<Terminal, 'env' | 'isStdoutTerminal' | 'isStderrTerminal'>> = {}) {
  /** What a command has said so far. */
  const said = { stdout: '', stderr: '' };
  /** Who waits for a signal. */
  const listeners = new Set<(name: string) => void>();
  const terminal: Terminal = {
    env,
    stdin: (async function* () {})(),
    isStdoutTerminal,
    isStderrTerminal,
    writeStdout: async (text) => {
      said.stdout += text;
    },
    writeStderr: (text) => {
      said.stderr += text;
    },
    onSignal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    leave: () => {
      throw new Error('The command left at once, expected an end');
    },
  };
  const signal = (name: string) => {
    for (const listener of listeners) listener(name);
  };
  return { terminal, said, listeners, signal };
}
