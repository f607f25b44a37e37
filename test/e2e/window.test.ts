import { expect, test } from 'vitest';
import { anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aWorkspaceInProcess as aWorkspace } from './a-workspace.js';
import { readFailure } from './failure.js';

/** A zone whose clocks show noon, so that no window of the test is cut by midnight. */
function zoneAtNoon(): string {
  const ahead = 12 - new Date().getUTCHours();
  return `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

test('a window that is closed lets nothing leave and ends with 75, whatever the zone of the machine; once the job has others a retry sends each once', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(12));
  const runIn = (zone: string) => workspace.finish(workspace.start(['run', 'job.yaml'], { env: { TZ: zone } }));
  const window = {
    days: DAYS,
    from: '14:00',
    to: '15:00',
    timeZone: zoneAtNoon(),
    unknown: 'reject',
    outside: 'stop',
  };
  workspace.change({ window, steps: [anSmsStep()] });

  const closed = await runIn('Pacific/Kiritimati');

  expect([closed.code, readFailure(closed).error.code]).toEqual([75, 'closed']);
  expect(closed.stderr).toMatch(/the window is closed for all that is left; .*14:00/);
  expect(await workspace.destinations()).toEqual([]);

  // The hours that were planned hold: for others the rest is let go, and planned again.
  workspace.change({ window: { ...window, from: '09:00', to: '20:00' }, steps: [anSmsStep()] });
  expect((await workspace.run()).code).toBe(75);
  const [directory = ''] = workspace.runs();
  const retry = ['retry', `out/sale/${directory}`, '--only', 'unprocessed', '--job', 'job.yaml'];
  const plan = await workspace.told(...retry);
  expect((await workspace.volley('apply', plan.directory)).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(12));
});

test('rows that are held as their time zone is not known are sent by a retry under a job that says it', async () => {
  const workspace = await aWorkspace();
  const zones = [zoneAtNoon(), 'nowhere', '', zoneAtNoon()];
  workspace.write(
    'people.csv',
    `mobile,name,zone\n${zones.map((zone, row) => `${numberOf(row)},P,${zone}\n`).join('')}`,
  );
  const hours = { days: DAYS, from: '09:00', to: '20:00', unknown: 'hold' };
  const writeJob = (timeZone: unknown) => workspace.change({ window: { ...hours, timeZone } });
  writeJob({ column: 'zone' });
  const { code, summary } = await workspace.run();
  expect([code, summary.balance]).toEqual([1, expect.objectContaining({ accepted: 2, skipped: 2 })]);
  const [directory = ''] = workspace.runs();

  writeJob(zoneAtNoon());
  const retry = ['retry', `out/sale/${directory}`, '--only', 'no-time-zone', '--job', 'job.yaml'];
  const plan = await workspace.told(...retry);

  expect((await workspace.volley('apply', plan.directory)).summary.balance).toMatchObject({ read: 2, accepted: 2 });
  expect(await workspace.destinations()).toEqual([0, 1, 2, 3].map(numberOf));
  expect((await workspace.told(...retry)).state).toBe('nothing-to-retry');
});
