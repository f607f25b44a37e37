import { expect, test } from 'vitest';
import { runVerb } from '../../src/command/runner.js';
import type { Area } from '../../src/domain/areas.js';
import { check } from '../../src/verbs/check.js';
import { aTerminal } from '../command/a-terminal.js';
import { anAnswer, aRawServer } from '../service/raw-server.js';
import { anSmsStep, people } from './a-job.js';
import { aJobOfSteps } from './a-workspace.js';
import { until } from './command.js';

const INPUT = { files: ['people.csv'], country: 'SG' };
const STEPS: Readonly<Record<Area, object>> = {
  sms: anSmsStep(),
  contacts: { kind: 'contacts', input: INPUT, fields: { firstName: 'name', msisdn: 'mobile' } },
  verification: { kind: 'verification.start', input: INPUT, destination: 'mobile' },
  gateway: { kind: 'conversations', input: INPUT, user: { name: 'name', phone: 'mobile' }, channel: 'channel-1' },
  campaign: { kind: 'campaign', campaign: 101, expect: 'RUNNING' },
  chat: { kind: 'chat', text: 'Done' },
};
const AREAS = Object.keys(STEPS) as Area[];

interface Service {
  readonly credentials: Record<string, unknown>;
  readonly bases: Record<Area, string>;
  giveUpAfterSeconds?: number;
}

/** A job with these steps, in whose service the test changes what it is about. */
async function aJobOf(steps: readonly object[], change: (service: Service) => void = () => {}) {
  const workspace = await aJobOfSteps(people(2), steps);
  const job = JSON.parse(workspace.read('job.yaml'));
  change(job.service);
  workspace.writeJob(job);
  return workspace;
}

const THREE: Area[] = ['sms', 'contacts', 'verification'];

/** Each of them at this address. */
const aJobOfThree = (baseOf: (base: string) => string) =>
  aJobOf(
    THREE.map((area) => STEPS[area]),
    ({ bases }) => {
      for (const area of THREE) bases[area] = baseOf(bases[area]);
    },
  );

test('check --online tries the key of each area, changes and sends nothing; without the flag it asks no service', async () => {
  const workspace = await aJobOf(Object.values(STEPS));
  expect((await workspace.volley('check', 'job.yaml')).code).toBe(0);
  expect(workspace.requests()).toEqual([]);

  const { code, stdout } = await workspace.volley('check', 'job.yaml', '--online', '--no-json');

  expect(stdout).toContain('Job sale can be planned');
  expect(stdout.match(/^ {2}\w+: the service takes .*; nothing was sent$/gm)).toHaveLength(AREAS.length);
  expect(code).toBe(0);
  expect((await workspace.told('check', 'job.yaml', '--online')).online).toHaveLength(AREAS.length);
  expect(await workspace.ledger()).toEqual([]);
  expect(new Set(workspace.requests().map(({ method }) => method))).toEqual(new Set(['GET']));
});

test('check --online says which keys are wrong, and where they come from', async () => {
  const wrong = { file: 'wrong.key' };
  const ownOf = (area: Area) => (area === 'campaign' ? { username: 'acme', dataToken: wrong } : { apiKey: wrong });
  const workspace = await aJobOf(Object.values(STEPS), ({ credentials }) => {
    for (const area of AREAS) credentials[area] = ownOf(area);
  });
  workspace.write('wrong.key', 'not-a-key-of-anybody');

  const failure = await workspace.refused('check', 'job.yaml', '--online');

  expect(failure).toMatchObject({ exitCode: 2, error: { code: 'bad-input' } });
  expect(failure.error.problems).toHaveLength(AREAS.length);
  for (const { message, hint } of failure.error.problems) {
    expect(message).toMatch(/(key|Token) of \w+ is wrong or not of this account \(HTTP 401: .+\)/);
    expect(hint).toMatch(/^It comes from the file \S*wrong\.key/);
  }
  expect(await workspace.ledger()).toEqual([]);
});

test('check --online looks for the campaign of each step, where a run would stop', async () => {
  const campaigns = [101, 998, 999].map((campaign) => ({ ...STEPS.campaign, campaign }));
  const workspace = await aJobOf([STEPS.sms, ...campaigns]);

  const { error } = await workspace.refused('check', 'job.yaml', '--online');

  expect(error.problems.map(({ message }) => message)).toEqual(
    [998, 999].map((id) => expect.stringContaining(`campaign ${id}: Cannot read a campaign: Campaign not found`)),
  );
});

test('check --online says at which address no service answered', async () => {
  const workspace = await aJobOf([STEPS.sms, STEPS.contacts], (service) => {
    service.giveUpAfterSeconds = 0;
    service.bases.contacts = 'http://127.0.0.1:1/api/v1';
  });

  const { error } = await workspace.refused('check', 'job.yaml', '--online');

  expect(error.problems.map(({ message, hint }) => [message.includes('contacts'), hint])).toEqual([
    [true, expect.stringContaining('It was asked at http://127.0.0.1:1/api/v1. Nothing was done.')],
  ]);
});

test('check --online takes no answer for a key that comes without one, too: the address is wrong', async () => {
  const workspace = await aJobOfThree((base) => `${base}/elsewhere`);

  const { online } = await workspace.told('check', 'job.yaml', '--online');

  const said = (area: Area) =>
    `^${area}: whether the key is right is not known, as \\S+/elsewhere answers the same without`;
  expect(online).toEqual(THREE.map((area) => expect.stringMatching(said(area))));
  expect(await workspace.ledger()).toEqual([]);
});

/** A job of three areas at a server that leaves each request to the test. */
async function aJobAt(onRequest: NonNullable<Parameters<typeof aRawServer>[0]['onRequest']>) {
  const server = await aRawServer({ onRequest });
  return { workspace: await aJobOfThree(() => server.base), server };
}

test('check --online tries all keys at once: of a service that does not answer, it waits for one of them', async () => {
  const waiting: (() => void)[] = [];
  const body = JSON.stringify({ code: 1200, message: 'No', errorId: 'e' });
  const { workspace } = await aJobAt((socket) => {
    waiting.push(() => void socket.write(anAnswer(401, body)));
    if (waiting.length === 3) for (const answer of waiting) answer();
  });

  const { error } = await workspace.refused('check', 'job.yaml', '--online');

  expect(error.problems.map(({ message }) => /key of (\w+) is wrong/.exec(message)?.[1])).toEqual(THREE);
});

test('check --online does not blame the key for what something in between says', async () => {
  const { workspace, server } = await aJobAt((socket) => socket.write(anAnswer(401, '<html>Sign in</html>')));

  const { error } = await workspace.refused('check', 'job.yaml', '--online');

  const hint = expect.stringMatching(`^It was asked at ${server.base}. Something between here and the service refuses`);
  expect(error.problems).toEqual([1, 2, 3].map(() => expect.objectContaining({ hint })));
});

test('check --online ends with a signal, and says that it was one', async () => {
  const { workspace, server } = await aJobAt(() => {});
  const { terminal, signal } = aTerminal({ env: workspace.env });
  const ended = runVerb('check', check, { job: workspace.path('job.yaml'), online: true, json: false }, terminal);
  await until(() => server.requests.length === 3);
  signal('SIGTERM');

  const expected = { code: 'interrupted', message: 'Cannot finish: the process received SIGTERM' };
  await expect(ended).rejects.toMatchObject(expected);
});
