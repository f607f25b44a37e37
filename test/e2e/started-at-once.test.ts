import { expect, test } from 'vitest';
import { aJob, numbersOf, people } from './a-job.js';
import { aWorkspace } from './a-workspace.js';

test('started four times at once, one runs; the others find the lock held, or nothing new', async () => {
  const workspace = await aWorkspace({ kind: 'latency', delayMs: 50 });
  workspace.write('people.csv', people(100));
  workspace.writeJob(aJob(workspace));

  const ended = await Promise.all(Array.from({ length: 4 }, () => workspace.run()));

  const states = ended.map(({ code, stdout }) => {
    const { state, error } = JSON.parse(stdout);
    return code === 75 && error.code === 'lock-held' ? 'turned away' : `${state} ${code}`;
  });
  expect(states.filter((state) => state === 'finished 0')).toHaveLength(1);
  expect(states.filter((state) => !['finished 0', 'turned away', 'nothing-new 0'].includes(state))).toEqual([]);
  expect(await workspace.destinations()).toEqual(numbersOf(100));
  expect(workspace.requests()).toHaveLength(10);
});
