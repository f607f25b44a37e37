import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { quoteWord } from '../../src/domain/errors.js';
import { aJob, anSmsStep, people } from './a-job.js';
import { aWorkspace, type Workspace } from './a-workspace.js';
import { COMMAND, until } from './command.js';
import { needTerminal } from './of-the-machine.js';

const terminal = needTerminal();

/** The command on a terminal of a hundred columns; `type` is what a person types. */
function startOnTerminal({ directory, env }: Workspace, args: string) {
  const command = `trap : INT; stty cols 100; ${quoteWord(process.execPath)} ${quoteWord(COMMAND)} ${args}; echo "ended with $?"`;
  const child = spawn('script', ['-qfec', command, '/dev/null'], { cwd: directory, env: { ...env, TERM: 'xterm' } });
  const said = { text: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said.text += text;
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  return { said, ended, type: (text: string) => child.stdin.write(text), end: () => child.stdin.end() };
}

const ERASE = '\u001b[K';

/** What stands on the terminal at last. */
function readScreen(text: string): string[] {
  const lines = [''];
  for (const piece of text.replaceAll(ERASE, '').split(/(\r\n|\n|\r)/)) {
    if (piece === '\n' || piece === '\r\n') lines.push('');
    else if (piece === '\r') lines[lines.length - 1] = '';
    else lines[lines.length - 1] += piece;
  }
  return lines;
}

test.skipIf(terminal.isMissing)(
  terminal.title(
    'warnings stand on lines of their own above the bar; after a second Ctrl-C it is gone, and the terminal is as it was',
  ),
  async () => {
    const workspace = await aWorkspace({ kind: 'stall', nth: 4 });
    workspace.write('people.csv', people(50));
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ batchSize: 1 })] }));
    const { said, ended, type, end } = startOnTerminal(workspace, 'run job.yaml');
    await until(() => workspace.requests().length === 4 && said.text.includes('3 of 50'));

    type('\u0003');
    await until(() => said.text.includes('again: stop at once'));
    type('\u0003');
    await until(() => said.text.includes('ended with 75'));
    end();
    await ended;

    const screen = readScreen(said.text);
    expect(screen).toContain('! SIGINT: nothing new is sent; waiting for what is in flight (again: stop at once)');
    expect(screen).toContain('✗ SIGINT again: stops at once with exit code 75, without waiting for what is in flight');
    expect(screen).toContain('ended with 75');
    expect(screen.join('\n')).not.toMatch(/[█░]/);
    // Neither the cursor is hidden nor wrapping off, so that nothing is left to restore, also by SIGKILL.
    expect(said.text).not.toContain('\u001b[?');
  },
);
