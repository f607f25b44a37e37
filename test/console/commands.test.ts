import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Commands, createCommands } from '../../src/console/commands.js';
import { UserError } from '../../src/domain/errors.js';
import { nodeFiles } from '../../src/storage/files.js';
import { aFolder } from '../plan/a-plan.js';

/** A program that begins a file, and writes a line into it for each SIGTERM; it ends some time after the first. */
const PROGRAM = `
const { appendFileSync } = require('node:fs');
const note = (line) => appendFileSync(process.argv[3], line);
process.on('SIGTERM', () => { note('stop '); setTimeout(() => { note('end'); process.exit(); }, 300); });
setInterval(() => {}, 1000);
note('begin ');
`;

function someCommands(cli: string): Commands {
  return createCommands(async () => ({ exitCode: 0, error: null }), {
    files: nodeFiles,
    owner: { host: 'h', pid: 1, instance: 'i' },
    isProcessAlive: () => true,
    spawn: (args, options) => spawn(process.execPath, [cli, ...args], options),
  });
}

test('a process that has ended since it was looked at is not stopped; that one is of another user is said', () => {
  const kill = vi.spyOn(process, 'kill');
  onTestFinished(() => kill.mockRestore());
  const commands = someCommands('cli.cjs');
  const failWith = (code: string) =>
    kill.mockImplementation(() => {
      throw Object.assign(new Error(code), { code, syscall: 'kill' });
    });
  failWith('ESRCH');
  expect(commands.stop(5_000_000, 'lock')).toBe(false);
  failWith('EPERM');
  expect(() => commands.stop(5_000_000, 'lock')).toThrow(UserError);
  kill.mockImplementation(() => true);
  expect([commands.stop(5_000_000, 'lock'), commands.stop(5_000_000, 'lock')]).toEqual([true, false]);
});

test('as the first process of a container the console asks each command once to stop, and waits for its end', async () => {
  const directory = aFolder();
  const cli = join(directory, 'cli.cjs');
  writeFileSync(cli, PROGRAM);
  const commands = someCommands(cli);
  const names = ['one', 'two'];
  const read = (name: string) => {
    try {
      return readFileSync(join(directory, `${name}.said`), 'utf8');
    } catch {
      return '';
    }
  };
  for (const name of names)
    await commands.start(join(directory, name), 'apply', {
      actor: undefined,
      directory,
      args: [join(directory, `${name}.said`)],
      jobSha256: '',
    });
  await expect.poll(() => names.map(read)).toEqual(['begin ', 'begin ']);
  const { pid } = JSON.parse(readFileSync(join(directory, 'one', 'apply.json'), 'utf8'));

  commands.stop(pid, 'lock');
  commands.stop(pid, 'lock');
  await commands.stopAll();

  expect(names.map(read)).toEqual(['begin stop end', 'begin stop end']);
  expect(readdirSync(join(directory, 'one')).sort()).toEqual(['apply.json', 'apply.log', 'apply.out']);
});
