import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Terminal } from '../../src/command/terminal.js';
import { runCommandLine } from '../../src/verbs/command-line.js';
import { oneIn } from '../one-in.js';
import { aFolder } from '../plan/a-plan.js';
import { ENDS, type Manner, startEchoingService } from './an-echoing-service.js';
import { findLeaks, NUMBER } from './canaries.js';

/** As they are typed. */
const CALLS = [
  ['verify', 'start', NUMBER],
  ['verify', 'check', 's-1', '123456'],
  ['campaign', 'status', '101'],
  ['campaign', 'set', '101', 'PAUSED'],
  ['chat', 'read'],
  ['chat', 'post', 'Hi'],
  ['gateway', 'webhook', 'Events', 'https://example.com/events'],
  ['gateway', 'channel', 'Bot', '--webhook', '1', '--queue', '101'],
  ['gateway', 'update', 'c-1', '--queue', '101'],
  ['gateway', 'send', 'c-1', 'Hi'],
];
async function findLeaksOfCalls(manner: Manner): Promise<string[]> {
  const { service } = await startEchoingService(manner);
  const directory = aFolder({ 'calls.yaml': JSON.stringify({ service, output: 'out' }) });
  const job = join(directory, 'calls.yaml');

  const found = CALLS.flatMap((words) =>
    [true, false].map(async (isTerminal) => {
      const command = (terminal: Terminal) => runCommandLine([...words, '--job', job], terminal, 100);
      const leaks = await findLeaks(command, { isTerminal });
      return leaks.map(
        (leak) => `${leak} of volley ${words.join(' ')}, ${isTerminal ? 'on a terminal' : 'into a pipe'}`,
      );
    }),
  );
  return (await Promise.all(found)).flat();
}

test.each(oneIn(2, ENDS))(
  'a single call to a service that repeats the key, a number and what steers a terminal and %s, says no secret, no number in a log or an error, and nothing that steers',
  async (manner) => {
    expect(await findLeaksOfCalls(manner)).toEqual([]);
  },
);
