import { expect, test } from 'vitest';
import { COMMAND } from '../e2e/command.js';
import { soakMany } from './soak.js';

const SHORT = { command: COMMAND, kills: 4, killsAJob: 4, atOnce: 2 };
/** What the command gives itself to end in; a pod's grace is longer. */
const GRACE_MS = 30_000;

test.concurrent('killed four times, at random: nothing is sent twice, nothing lost, in doubt is what was open', async () => {
  const { failures, kills } = await soakMany({ ...SHORT, from: 1, signal: 'SIGKILL' });

  expect(failures).toEqual([]);
  expect(kills).toBe(SHORT.kills);
});

test.concurrent('asked to stop twice, at random: each time it ends within its grace, with nothing in doubt, and resumes', async () => {
  const { failures, kills, inDoubt, slowestEndMs } = await soakMany({
    ...SHORT,
    kills: 2,
    killsAJob: 2,
    from: 101,
    signal: 'SIGTERM',
  });

  expect(failures).toEqual([]);
  expect(kills).toBe(2);
  expect(inDoubt).toBe(0);
  expect(slowestEndMs).toBeLessThan(GRACE_MS);
});
