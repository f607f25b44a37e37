import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeFailure } from '../../src/command/failure.js';
import { runCommandLine } from '../../src/verbs/command-line.js';
import { aTerminal } from '../command/a-terminal.js';
import { people } from '../e2e/a-job.js';
import { aJobFor } from '../e2e/a-workspace.js';
import { until } from '../e2e/command.js';
import { aGatewayEvent, anEventLine, aReceipt } from '../listen/events.js';
import { readMetrics } from '../observe/read-metrics.js';
import { aFolder } from '../plan/a-plan.js';

const SECRET = 'correct-horse-battery';

/** The command in this process, with a terminal of the test's own, in a directory of its own. */
function aCommand(env: Record<string, string> = {}) {
  const directory = aFolder();
  const { terminal, said, listeners, signal } = aTerminal({ env });
  const output = join(directory, 'events.ndjson');
  const run = (...flags: string[]) => runCommandLine(['listen', '--port', '0', ...flags], terminal, 100);
  return {
    directory,
    output,
    said,
    terminal,
    listeners,
    run,
    listen: (...flags: string[]) => run('--output', output, ...flags),
    firstLine: async () => {
      await until(() => said.stdout.includes('\n'));
      return JSON.parse(said.stdout.split('\n', 1)[0] ?? '');
    },
    signal: () => signal('SIGTERM'),
  };
}

async function post(url: string, body: object): Promise<number> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body), headers: { connection: 'close' } });
  await answer.text();
  return answer.status;
}

describe('volley listen', () => {
  test('says where it listens, receives until a signal, then prints the totals and exits with 0; its counts are at a port of their own', async () => {
    const command = aCommand({ HOOK_SECRET: SECRET });
    const ended = command.listen('--secret-env', 'HOOK_SECRET', '--metrics-port', '0');
    const { origin, path, output } = await command.firstLine();
    expect([path, output]).toEqual(['/hook/<secret>', command.output]);
    expect(await post(`${origin}/hook/${SECRET}`, aGatewayEvent())).toBe(200);
    expect(await post(`${origin}/hook/${SECRET}`, aGatewayEvent())).toBe(200);
    expect(await post(`${origin}/hook/other`, aGatewayEvent())).toBe(404);
    const at = /metrics are at (http:\S+?)\/metrics/.exec(command.said.stderr)?.[1] ?? '';
    const answer = await fetch(`${at}/metrics`, { headers: { connection: 'close' } });
    const samples = readMetrics(await answer.text());
    const counts = ['written', 'duplicate', 'bad', 'refused', 'busy', 'dropped'].map((outcome) =>
      samples.get(`volley_events_total{outcome="${outcome}"}`),
    );
    expect(counts).toEqual([1, 1, 0, 1, 0, 0]);
    expect(samples.get('volley_listener_accepting')).toBe(1);
    expect(samples.get('volley_listener_disk_available_bytes')).toBeGreaterThan(0);
    expect((await fetch(`${origin}/metrics`, { headers: { connection: 'close' } })).status).toBe(404);
    const taken = ['--metrics-port', new URL(at).port];
    await expect(aCommand().listen(...taken)).rejects.toMatchObject({ name: 'UserError', code: 'bad-flag' });

    command.signal();
    expect(await ended).toBe(0);
    await expect(fetch(`${at}/metrics`)).rejects.toThrow();
    expect(JSON.parse(command.said.stdout.split('\n')[1] ?? '')).toMatchObject({
      ...{ output: command.output, received: 2, written: 1, duplicates: 1, unknown: 0 },
      ...{ bad: 0, refused: 1, busy: 0, dropped: 0 },
    });
    expect(readFileSync(command.output, 'utf8').split('\n')).toHaveLength(2);
    expect(statSync(command.output).mode & 0o777).toBe(0o600);
    expect(command.said.stdout + command.said.stderr).not.toContain(SECRET);
    expect(command.listeners.size).toBe(0);
  });

  test('ends at a signal that comes before it listens', async () => {
    const command = aCommand();
    command.terminal.onSignal = (listener) => {
      queueMicrotask(() => listener('SIGTERM'));
      return () => {};
    };
    expect(await command.listen()).toBe(0);
  });

  test('refuses a secret that may be guessed, without saying it', async () => {
    const error = await aCommand({ HOOK_SECRET: 'fifteen-letters' })
      .listen('--secret-env', 'HOOK_SECRET')
      .catch((thrown) => thrown);
    const expected = { code: 'bad-credentials', message: expect.stringContaining('fewer than 16 characters') };
    expect(error).toMatchObject(expected);
    expect(error.message).not.toContain('fifteen-letters');
  });

  test('reads the secret from a file', async () => {
    const command = aCommand();
    const secretFile = join(command.directory, 'secret');
    writeFileSync(secretFile, 'sixteen-letters-\n');
    const ended = command.listen('--secret-file', secretFile, '--no-json');
    const { origin } = await command.firstLine();
    expect(await post(`${origin}/hook/sixteen-letters-`, { a: 1 })).toBe(200);
    command.signal();
    await ended;
    expect(command.said.stderr).not.toContain('sixteen-letters-');
    expect(command.said.stdout.split('\n').slice(1).join('\n')).toBe(
      `1 event received, 1 written, 1 of unknown kind\n  → ${command.output}\n`,
    );
  });

  test('joins at its start what a killed listener left in a run', async () => {
    const workspace = await aJobFor(people(3));
    const { summary } = await workspace.run();
    const [sent] = await workspace.sms();
    const payload = { clientMessageId: sent?.clientMessageId, destination: sent?.destination, umid: sent?.umid };
    workspace.write(`${workspace.firstRun()}/receipts.ndjson`, anEventLine(aReceipt({ payload })));
    const command = aCommand();
    const ended = command.run('--receipts', workspace.path('out'), '--json');
    await command.firstLine();
    command.signal();
    expect(await ended).toBe(0);
    expect(JSON.parse(command.said.stdout.split('\n')[1] ?? '').runs).toMatchObject([
      { directory: summary.directory, deliveries: { delivered: 1 } },
    ]);
  });

  test('leaves at once at a second signal', async () => {
    const command = aCommand();
    let left: number | undefined;
    command.terminal.leave = ({ exitCode }) => {
      left = exitCode;
      return undefined as never;
    };
    const ended = command.listen();
    await command.firstLine();
    command.signal();
    command.signal();
    await ended;
    expect(left).toBe(75);
  });

  test.each([
    ['a link to it', true],
    ['a link that leads to no file yet', false],
  ])('has its file for itself, also where it was given %s', { timeout: 20_000 }, async (_, isThere) => {
    const first = aCommand();
    const second = aCommand();
    const output = join(first.directory, 'real/events.ndjson');
    const link = join(first.directory, 'link.ndjson');
    mkdirSync(join(first.directory, 'real'));
    symlinkSync(output, link);
    if (isThere) writeFileSync(output, '');
    const ended = first.run('--output', link);
    const { origin } = await first.firstLine();

    await expect(second.run('--output', output)).rejects.toMatchObject({ name: 'UserError', code: 'lock-held' });

    expect(await post(origin, { a: 1 })).toBe(200);
    first.signal();
    expect(await ended).toBe(0);
    expect(readFileSync(output, 'utf8').split('\n')).toHaveLength(2);
  });

  test('ends when stdout is closed', async () => {
    const command = aCommand();
    command.terminal.writeStdout = () => Promise.reject(new Error('EPIPE'));
    await expect(command.listen()).rejects.toThrow('EPIPE');
    expect(command.listeners.size).toBe(0);
  });

  test.each([
    ['a directory', 'directory'],
    ['in a directory that is a file', 'file/events.ndjson'],
    ['a link to itself', 'link'],
  ])(
    'does not start with an output that is %s, and leaves nothing beside it: 2, as nothing but the path is wrong',
    async (_, output) => {
      const command = aCommand();
      mkdirSync(join(command.directory, 'directory'));
      writeFileSync(join(command.directory, 'file'), '');
      symlinkSync('link', join(command.directory, 'link'));
      const error = await command.run('--output', join(command.directory, output)).catch((thrown) => thrown);
      const expected = { exitCode: 2, error: { hint: expect.stringMatching(/path|file/) } };
      expect(describeFailure(error)).toMatchObject(expected);
      expect(readdirSync(command.directory).toSorted()).toEqual(['directory', 'file', 'link']);
    },
  );

  test.each([
    ['no output', 'bad-flag', []],
    ['a secret that is not set', 'bad-credentials', ['--output', 'o', '--secret-env', 'NOT_SET']],
    ['a secret file that is not there', 'bad-credentials', ['--output', 'o', '--secret-file', '/nowhere/secret']],
    ['an empty secret', 'bad-credentials', ['--output', 'o', '--secret-env', 'EMPTY']],
    ['another host and no secret', 'unsafe-environment', ['--output', 'o', '--host', '0.0.0.0']],
  ])('does not start with %s', async (_, code, flags) => {
    const command = aCommand({ EMPTY: '' });
    await expect(command.run(...flags)).rejects.toMatchObject({ name: 'UserError', code });
    expect(command).toMatchObject({ said: { stdout: '' }, listeners: { size: 0 } });
  });
});
