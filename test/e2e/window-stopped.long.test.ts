import { expect, test } from 'vitest';
import { oneIn } from '../one-in.js';
import { aJob, anSmsStep, numbersOf, people } from './a-job.js';
import { aWorkspace } from './a-workspace.js';
import { until } from './command.js';
import { readFailure } from './failure.js';

const PEOPLE = 300;
const MINUTE_MS = 60_000;
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A zone whose clocks show an hour of the day, and this many minutes. */
function zoneAtNoon(): string {
  const ahead = 12 - new Date().getUTCHours();
  return `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

/** `12:07`: of noon's clock, at an instant within the hour or right behind it. */
function atNoon(ms: number): string {
  const passed = Math.floor((ms - Math.floor(Date.now() / 3_600_000) * 3_600_000) / MINUTE_MS);
  return `${12 + Math.floor(passed / 60)}:${String(passed % 60).padStart(2, '0')}`;
}

test.each(oneIn(2, ['UTC', 'Pacific/Kiritimati']))(
  'a process that is stopped over the closing time sends nothing once it wakes, and ends with 75 (%s)',
  async (zone) => {
    const workspace = await aWorkspace();
    workspace.write('people.csv', people(PEOPLE));
    // At least half a minute of sending before the last minute that has room for an answer.
    const closesMs = Math.ceil((Date.now() + 30_000) / MINUTE_MS) * MINUTE_MS;
    const window = { days: DAYS, from: '12:00', to: atNoon(closesMs), timeZone: zoneAtNoon() };
    const step = anSmsStep({ batchSize: 1, limits: { requestsPerSecond: 2, concurrency: 2 } });
    const service = { timeouts: { answerSeconds: 5 } };
    workspace.writeJob(aJob(workspace, { window, steps: [step], service }));

    const running = workspace.start(['run', 'job.yaml'], { env: { TZ: zone } });
    await until(() => workspace.requests().length >= 5);
    // For less than the lease of its lock.
    await sleep(closesMs - 20_000 - Date.now());
    running.signal('SIGSTOP');
    const before = workspace.requests().length;
    await sleep(closesMs - 5000 - Date.now());
    running.signal('SIGCONT');
    const closed = await workspace.finish(running);

    expect([closed.code, readFailure(closed).error.code]).toEqual([75, 'closed']);
    const sent = await workspace.sms();
    // Those that had passed the gate when it was stopped.
    expect(sent.length).toBeLessThanOrEqual(before + 2);
    expect(sent.filter(({ at }) => Date.parse(String(at)) >= closesMs)).toEqual([]);

    workspace.writeJob(aJob(workspace, { window: { ...window, to: '24:00' }, steps: [anSmsStep()], service }));
    const [directory = ''] = workspace.runs();
    const retry = ['retry', `out/sale/${directory}`, '--only', 'unprocessed', '--job', 'job.yaml'];
    const plan = JSON.parse((await workspace.volley(...retry)).stdout);
    // Answers that came while it was stopped are lost: what they were for is in doubt.
    const doubt = closed.summary.balance.inDoubt;
    expect((await workspace.volley('apply', plan.directory)).code).toBe(doubt === 0 ? 0 : 3);
    const got = await workspace.destinations();
    expect(new Set(got).size).toBe(got.length);
    expect(numbersOf(PEOPLE).filter((number) => !got.includes(number)).length).toBeLessThanOrEqual(doubt);
  },
);
