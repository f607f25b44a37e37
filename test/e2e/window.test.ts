import { expect, test } from 'vitest';
import { anSmsStep, numberOf, numbersOf, people } from './a-job.js';
import { aJobFor } from './a-workspace.js';
import { readFailure } from './command.js';

/** A zone whose clocks show noon, so that no window of the test is cut by midnight. */
function zoneAtNoon(): string {
  const ahead = 12 - new Date().getUTCHours();
  return `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const OPEN = { days: DAYS, from: '09:00', to: '20:00' };
const JOB = ['--job', 'job.yaml'];

test('a window that is closed lets nothing leave and ends with 75, whatever the zone of the machine; once the job has others a retry sends each once', async () => {
  const zone = { timeZone: zoneAtNoon(), unknown: 'reject', outside: 'stop' };
  const workspace = await aJobFor(people(12), { window: { days: DAYS, from: '14:00', to: '15:00', ...zone } });

  const running = workspace.start(['run', 'job.yaml'], { env: { TZ: 'Pacific/Kiritimati' } });
  const closed = await workspace.finish(running);

  expect([closed.code, readFailure(closed).error.code]).toEqual([75, 'closed']);
  expect(closed.stderr).toMatch(/the window is closed for all that is left; .*14:00/);
  expect(await workspace.destinations()).toEqual([]);

  // The hours that were planned hold: for others the rest is let go, and planned again.
  workspace.change({ window: { ...OPEN, ...zone } });
  expect((await workspace.run()).code).toBe(75);
  expect((await workspace.resend(workspace.firstRun(), 'unprocessed', ...JOB)).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(12));
});

test('rows that are held as their time zone is not known are sent by a retry under a job that says it', async () => {
  const zones = [zoneAtNoon(), 'nowhere', '', zoneAtNoon()];
  const rows = zones.map((zone, row) => `${numberOf(row)},P,${zone}\n`);
  const held = { ...OPEN, unknown: 'hold' };
  const workspace = await aJobFor(`mobile,name,zone\n${rows.join('')}`, {
    window: { ...held, timeZone: { column: 'zone' } },
  });
  const { code, summary } = await workspace.run();
  expect([code, summary.balance]).toMatchObject([1, { accepted: 2, skipped: 2 }]);

  workspace.change({ window: { ...held, timeZone: zoneAtNoon() } });
  const sent = await workspace.resend(summary.directory, 'no-time-zone', ...JOB);
  expect(sent.summary.balance).toMatchObject({ read: 2, accepted: 2 });
  expect(await workspace.destinations()).toEqual([0, 1, 2, 3].map(numberOf));
  expect((await workspace.retry(summary.directory, 'no-time-zone', ...JOB)).state).toBe('nothing-to-retry');
  expect((await workspace.told('report', summary.directory)).exitCode).toBe(0);
});

test.each([
  ['a window', { window: OPEN }, true],
  ['none', {}, false],
])('a job with codes and %s: plan and check say that codes leave at any hour: %o', async (_what, hours, isSaid) => {
  const codes = { kind: 'verification.start', input: { files: 'people.csv' }, destination: 'mobile', brand: 'ACME' };
  const workspace = await aJobFor(people(1), { ...hours, steps: [anSmsStep(), codes] });
  const said = 'step 2 (verification.start): a window holds SMS only; one-time codes leave at any hour';
  expect((await workspace.volley('plan', 'job.yaml')).stderr.includes(said)).toBe(isSaid);
  expect((await workspace.volley('check', 'job.yaml')).stdout.includes(said)).toBe(isSaid);
});
