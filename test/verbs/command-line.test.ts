import { expect, test, vi } from 'vitest';
import { expandHelp, moveVerbFirst, runCommandLine } from '../../src/verbs/command-line.js';
import { VERBS } from '../../src/verbs/verbs.js';
import { aTerminal } from '../command/a-terminal.js';

test.each([
  ['help', 'help topics'],
  ['help --help', 'help topics --help'],
  ['help input', 'help input'],
  ['help run', 'run --help'],
  ['help verify start', 'verify start --help'],
  ['help --log-level warn run', 'run --log-level warn --help'],
  ['help --log-level warn', 'help topics --log-level warn'],
  ['help --json input', 'help input --json'],
  ['run job.yaml', 'run job.yaml'],
])('"%s" is parsed as "%s"', (typed, parsed) => {
  expect(expandHelp(typed.split(' ')).join(' ')).toBe(parsed);
});

test.each([
  ['--log-level warn prune job.yaml --dry-run', 'prune --log-level warn job.yaml --dry-run'],
  ['--log-level=warn abandon out/run', 'abandon --log-level=warn out/run'],
  ['--log-level warn help run', 'help --log-level warn run'],
  ['--log-level warn prun job.yaml', 'prun --log-level warn job.yaml'],
  ['--no-json prun job.yaml', 'prun --no-json job.yaml'],
  ['--dry-run prune job.yaml', 'prune --dry-run job.yaml'],
  ['--older-than 90d prune job.yaml', 'prune --older-than 90d job.yaml'],
  ['--unknown prune job.yaml', 'prune --unknown job.yaml'],
  ['--log-level warn', '--log-level warn'],
  ['--log-level', '--log-level'],
  ['--help', '--help'],
  ['-- prune', '-- prune'],
])('the verb of "%s" is found behind its flags', (typed, read) => {
  expect(moveVerbFirst(typed.split(' ')).join(' ')).toBe(read);
});

test.each(VERBS)('flags may stand before %s', (verb) => {
  for (const flags of [
    ['--log-level', 'warn'],
    ['--log-format=json', '--json'],
  ]) {
    expect(moveVerbFirst([...flags, verb, 'job.yaml'])).toEqual([verb, ...flags, 'job.yaml']);
  }
});

test.each(['help prune', 'help chat post', '--log-level warn help chat post'])(
  '"%s" loads the verb that it asks about, and so shows its flags',
  async (typed) => {
    const { terminal } = aTerminal();
    const finish = async () => {};
    const printed = vi.spyOn(console, 'log').mockReturnValue();
    const exited = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
    await runCommandLine(typed.split(' '), { terminal, finish }, 100);
    expect(printed.mock.calls.join('')).toMatch(/--older-than|--room/);
    expect(exited).toHaveBeenCalledWith(0);
    vi.restoreAllMocks();
  },
);
