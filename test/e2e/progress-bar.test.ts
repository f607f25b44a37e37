import { expect, test } from 'vitest';
import { aJob, anSmsStep, people } from './a-job.js';
import { aWorkspace } from './a-workspace.js';
import { until } from './command.js';
import { needTerminal } from './of-the-machine.js';
import { startOnTerminal } from './on-terminal.js';

const terminal = needTerminal();

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
    const { said, ended, type, end } = startOnTerminal(workspace, 'run job.yaml --yes');
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
