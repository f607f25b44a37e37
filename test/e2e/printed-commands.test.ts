import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { VERBS } from '../../src/verbs/verbs.js';
import { aJob, anSmsStep, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { runCommandInProcess } from './command-in-process.js';

const SOURCES = join(import.meta.dirname, '../../src');

/** With something in place of an argument. */
const COMMAND = new RegExp(`(.)\\bvolley (?:${VERBS.join('|')})(?: (?:drop|--[a-z-]+))* \\$\\{([^}]+)\\}`, 'g');

test('a command that the source prints stands in backticks, so that it is named as the person called it, and quotes what it names', () => {
  const found: string[] = [];
  for (const name of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const text = readFileSync(join(SOURCES, name), 'utf8');
    // A word in capitals alone is no file: what is not known is said behind the command.
    if (text.includes('--job JOB')) found.push(`${name}: --job JOB`);
    for (const [command, before, named = ''] of text.matchAll(COMMAND)) {
      // An id is one word.
      const isQuoted = named.startsWith('quoteWord(') || command.includes(' drop ');
      if (before !== '`' || !isQuoted) found.push(`${name}: ${command}`);
    }
  }
  expect(found).toEqual([]);
});

/** Of what a command says: each command in backticks or on a line of its own, as the shell splits it. */
function readCommands(said: string): string[][] {
  const command = String.raw`node (?:'[^']+cli\.js'|\S+cli\.js) `;
  const found = new RegExp(`\`(${command}[^\`]+)\`|^(?:.*: | {2})(${command}.+)$`, 'gm');
  const commands = [...said.matchAll(found)];
  return commands.map(([, quoted, alone]) =>
    execFileSync('sh', ['-c', `printf '%s\\n' ${quoted ?? alone}`], { encoding: 'utf8' })
      .trimEnd()
      .split('\n'),
  );
}

test('commands in hints, warnings and accounts can be copied: their paths are words, from where the person stands', async () => {
  const workspace = await aWorkspace({ kind: 'reset-after', nth: 2 });
  workspace.write('their jobs/people.csv', people(30));
  const job = aJob(workspace, { output: 'my out', steps: [anSmsStep()] });
  workspace.writeJob({ ...job, guards: { requireTest: true } }, 'their jobs/tested.yaml');
  workspace.writeJob(job, 'their jobs/job.yaml');
  const { env } = workspace;
  const at = async (cwd: string, ...args: string[]) => {
    const { stdout, stderr } = await runCommandInProcess([...args, '--no-json', '--log-format', 'pretty'], {
      cwd,
      env,
    });
    const commands = readCommands(`${stderr}\n${stdout}`);
    const paths = commands.flatMap((words) => words.slice(2)).filter((word) => /[ /]/.test(word));
    expect(paths.length, stdout + stderr).toBeGreaterThan(0);
    for (const path of paths) {
      expect(path).toContain(' ');
      expect(existsSync(join(path.startsWith('/') ? '' : cwd, path)), `${path} from ${cwd}`).toBe(true);
    }
    return commands;
  };
  const here = workspace.directory;
  const inside = workspace.path('their jobs');

  const [test1] = await at(here, 'run', 'their jobs/tested.yaml');
  expect(test1?.[3]).toMatch(/^their jobs\/my out\/sale\/[^/]+$/);
  expect((await at(inside, 'run', 'tested.yaml'))[0]?.[3]).toMatch(/^my out\/sale\/[^/]+$/);
  const [settle] = await at(here, 'run', 'their jobs/job.yaml');
  expect(settle?.slice(2)).toEqual(['settle', expect.stringMatching(/^their jobs\//), '--export', 'messages.csv']);
  const [again] = await at(inside, 'run', 'job.yaml');
  expect(again?.slice(2)).toEqual(['run', 'job.yaml', '--again']);
});
