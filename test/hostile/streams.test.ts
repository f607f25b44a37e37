import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { renderJobJsonSchema } from '../../src/job/schema/json-schema.js';
import { COMMAND } from '../e2e/command.js';
import { aFolder } from '../plan/a-plan.js';

type Stream = 'pipe' | number;

function aDirectory(): string {
  const step = { kind: 'sms', input: { files: 'people.csv' }, destination: 'mobile', template: { text: 'Hi' } };
  const job = { service: { sandbox: true }, steps: [step], output: 'out' };
  return aFolder({ 'sale.yaml': JSON.stringify(job), 'people.csv': 'mobile\n+6591234567\n' });
}

function start(args: readonly string[], [stdout, stderr]: readonly [Stream, Stream], cwd = '.'): ChildProcess {
  const child = spawn(process.execPath, [COMMAND, ...args], { cwd, stdio: ['ignore', stdout, stderr] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function read(stream: ChildProcess['stdout']): Promise<string> {
  let text = '';
  for await (const piece of stream?.setEncoding('utf8') ?? []) text += piece;
  return text;
}

const full = () => openSync('/dev/full', 'w');

describe('stdout', () => {
  test('loses nothing to a reader that is slower than the command', async () => {
    const schema = renderJobJsonSchema();
    // More than a pipe takes at once.
    expect(schema.length).toBeGreaterThan(65_536);
    const child = start(['schema'], ['pipe', 'pipe']);
    let text = '';
    for await (const piece of child.stdout?.setEncoding('utf8') ?? []) {
      text += piece;
      for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    }
    expect(text).toBe(schema);
  });

  test('that is closed is an error of a run', async () => {
    const child = start(['run', 'sale.yaml'], ['pipe', 'pipe'], aDirectory());
    child.stdout?.destroy();
    const [said, [code]] = await Promise.all([read(child.stderr), once(child, 'exit')]);
    expect([code, said]).toEqual([75, expect.stringContaining('Cannot print: what read its output has ended (EPIPE')]);
  });

  test('that is full is an error of a verb that only prints', async () => {
    const child = start(['schema'], [full(), 'pipe'], aDirectory());
    const [said, [code]] = await Promise.all([read(child.stderr), once(child, 'exit')]);
    expect([code, said]).toEqual([75, expect.stringContaining('Cannot use stdout: no space left on device (ENOSPC')]);
  });

  // Without a terminal of its own, `script` makes one of width 0, as `docker run -t` does.
  test.runIf(existsSync('/usr/bin/script'))('that is a terminal which does not know its width is 80 wide', async () => {
    const command = `'${process.execPath}' '${COMMAND}' help`;
    const child = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const lines = (await read(child.stdout)).split(/\r?\n/);
    expect(Math.max(...lines.map(({ length }) => length))).toBeGreaterThan(70);
  });
});

test.each(['closed', 'full'])('stderr that is %s ends no run: the log is lost, nothing else', async (how) => {
  const child = start(['run', 'sale.yaml'], ['pipe', how === 'full' ? full() : 'pipe'], aDirectory());
  child.stderr?.destroy();
  const [said, [code]] = await Promise.all([read(child.stdout), once(child, 'exit')]);
  expect(code).toBe(0);
  expect(JSON.parse(said)).toMatchObject({ state: 'finished', balance: { accepted: 1 } });
});
