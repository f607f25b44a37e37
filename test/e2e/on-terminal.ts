import { spawn } from 'node:child_process';
import { quoteWord } from '../../src/domain/errors.js';
import type { Workspace } from './a-workspace.js';
import { COMMAND } from './command.js';

/** The command on a terminal of a hundred columns; `type` is what a person types. */
export function startOnTerminal({ directory, env }: Workspace, args: string) {
  const command = `trap : INT; stty cols 100; ${quoteWord(process.execPath)} ${quoteWord(COMMAND)} ${args}; echo "ended with $?"`;
  const child = spawn('script', ['-qfec', command, '/dev/null'], { cwd: directory, env: { ...env, TERM: 'xterm' } });
  const said = { text: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said.text += text;
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  return { said, ended, type: (text: string) => child.stdin.write(text), end: () => child.stdin.end() };
}
