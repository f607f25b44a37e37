import { expect, test } from 'vitest';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspace } from './a-workspace.js';
import { readFailure } from './failure.js';

/** A zone whose clocks show noon, so that no window of the test is cut by midnight. */
function zoneAtNoon(): string {
  const ahead = 12 - new Date().getUTCHours();
  return `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

test.each([['UTC'], ['Pacific/Kiritimati'], ['America/Adak']])(
  'a window that is closed lets nothing leave and ends with 75, whatever the zone of the machine (%s); once the job has others a retry sends each once',
  async (zone) => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(12));
    const run = () => workspace.finish(workspace.start(['run', 'job.yaml'], { env: { TZ: zone } }));
    const window = {
      days: DAYS,
      from: '14:00',
      to: '15:00',
      timeZone: zoneAtNoon(),
      unknown: 'reject',
      outside: 'stop',
    };
    workspace.writeJob(aJob(workspace, { window, steps: [anSmsStep()] }));

    const closed = await run();

    expect([closed.code, readFailure(closed).error.code]).toEqual([75, 'closed']);
    expect(closed.stderr).toMatch(/the window is closed for all that is left; .*14:00/);
    expect(await workspace.destinations()).toEqual([]);

    // The hours that were planned hold: for others the rest is let go, and planned again.
    workspace.writeJob(aJob(workspace, { window: { ...window, from: '09:00', to: '20:00' }, steps: [anSmsStep()] }));
    expect((await run()).code).toBe(75);
    const [directory = ''] = workspace.runs();
    const retry = ['retry', `out/sale/${directory}`, '--only', 'unprocessed', '--job', 'job.yaml'];
    const plan = JSON.parse((await workspace.volley(...retry)).stdout);
    expect((await workspace.volley('apply', plan.directory)).code).toBe(0);
    expect(await workspace.destinations()).toEqual(numbersOf(12));
  },
);
