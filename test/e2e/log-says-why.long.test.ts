import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { FaultInput } from '../../src/sandbox/fault.js';
import { people } from './a-job.js';
import { aJobFor, volleyIn, type Workspace } from './a-workspace.js';
import { expectSaid, type SaidEnd } from './log-lines.js';

function aNight(faults: readonly FaultInput[], changes: object = {}): Promise<Workspace> {
  return aJobFor(people(300), { ...changes }, ...faults);
}

const BRIEF = { service: { giveUpAfterSeconds: 1 } };

test.concurrent.each<[string, { faults?: FaultInput[]; changes?: object; env?: Record<string, string>; end: SaidEnd }]>(
  [
    [
      'a guard while it sends',
      {
        faults: [{ kind: 'reject-rows', rows: 0.5 }],
        changes: { guards: { maxFailedPercent: 20 } },
        end: { code: 4, level: 'error', reason: /guard.*maxFailedPercent 20/, events: ['guard'] },
      },
    ],
    [
      'a wrong key',
      { env: { VOLLEY_API_KEY: 'wrong' }, end: { code: 4, level: 'error', reason: /unauthorized.*HTTP 401/ } },
    ],
    [
      'a dead service',
      {
        changes: { service: { ...BRIEF.service, bases: { sms: 'http://127.0.0.1:9' } } },
        end: {
          code: 75,
          level: 'error',
          reason: /unavailable.*ECONNREFUSED/,
          events: ['outage', 'breaker-open'],
          fields: { unprocessed: 300 },
        },
      },
    ],
    [
      'too many requests, and then all is well',
      {
        faults: [{ kind: 'status-429', nth: [2, 3, 8], retryAfter: 0 }],
        end: { code: 0, level: 'info', reason: /every row accepted/, events: ['throttled'] },
      },
    ],
  ],
)(
  'stderr alone tells why a run ended, and stdout of one that is stopped says so too %s',
  async (_name, { faults = [], changes = {}, env = {}, end }) => {
    const workspace = await aNight(faults, changes);

    const ended = await volleyIn(workspace, { env }, 'run', 'job.yaml');

    const lines = expectSaid(ended, end);
    for (const line of lines.slice(1)) expect(line).toMatchObject({ job: 'sale' });
    const of = lines.filter(({ event }) => ['throttled', 'outage', 'breaker-open', 'in-doubt'].includes(String(event)));
    for (const line of of) expect(line).toMatchObject({ job: 'sale', run: expect.any(String), step: 1, kind: 'sms' });
  },
);

test('npm start prints the account and nothing beside it, in a pipe too', async () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const flags = scripts.start.split('jobs/spring-sale.yaml ')[1].split(' ');
  const workspace = await aJobFor(`${people(3)}call me,x\n`, { failOn: 'in-doubt' });

  const { code, stdout, stderr } = await workspace.run(...flags);

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Run \w+ of job sale is finished/);
});
