import type { Terminal } from '../../src/command/terminal.js';

export interface TerminalOfTest {
  readonly terminal: Terminal;
  /** What a command has said so far. */
  readonly said: { stdout: string; stderr: string };
  /** Who waits for a signal. */
  readonly listeners: ReadonlySet<(name: string) => void>;
  readonly signal: (name: string) => void;
}

/** A terminal that remembers what is said and can give signals. Nothing is typed into it, and no command may leave at once. */
export function aTerminal({
  env = {},
  isStdoutTerminal = false,
  isStderrTerminal = true,
}: Partial<Pick<Terminal, 'env' | 'isStdoutTerminal' | 'isStderrTerminal'>> = {}): TerminalOfTest {
  const said = { stdout: '', stderr: '' };
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
