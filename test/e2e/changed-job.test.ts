import { expect, test } from 'vitest';
import { aContactsStep, aJobOfAreas, anSmsStep, IN_ORDER, numbersOf, people } from './a-job.js';
import { aJobFor, aJobOfSteps } from './a-workspace.js';

const OF_PEOPLE = { input: { files: 'people.csv' }, limits: IN_ORDER };
const A_TEXT = { source: 'ACME', text: 'Dear {{ name }}' };

test.each([
  [
    'its text',
    [anSmsStep({ template: A_TEXT })],
    /people\.csv was already sent by run \w+, with another template\.text .* --again/,
  ],
  ['its country', [anSmsStep({ input: { files: 'people.csv', country: 'SG' } })], /with another country .* --again/],
  [
    'a step before it',
    [anSmsStep({ template: A_TEXT }), anSmsStep()],
    /sent by run \w+, by another step than step 1: .* --again/,
  ],
  ['how fast it is', [anSmsStep({ batchSize: 5 })], /already sent by run \w+ Results/],
  [
    'its where',
    [anSmsStep({ input: { files: 'people.csv', where: { name: 'present' } } })],
    /already sent by run \w+ Results/,
  ],
])(
  'a file that was sent before the job got another one of %s is not sent again, and why is said',
  async (_what, steps, said) => {
    const workspace = await aJobFor(people(3));
    await workspace.run();
    workspace.change({ steps });
    for (const verb of ['plan', 'run']) expect(await workspace.said(verb, 'job.yaml')).toMatch(said);
    expect(await workspace.destinations()).toEqual(numbersOf(3));
  },
);

test('whom another where lets in is named where the file is not sent again, with the retry that sends to them alone, once', async () => {
  const where = (named: object) => ({ steps: [anSmsStep({ input: { files: 'people.csv', where: named } })] });
  const workspace = await aJobFor(people(3), where({ name: ['P1', 'P2'] }));
  await workspace.run();
  workspace.change(where({ name: 'present' }));
  const said = await workspace.said('run', 'job.yaml');
  expect(said).toContain('1 row of it was filtered, by another where');
  const [, run = ''] = /retry (\S+) --only filtered --job job\.yaml/.exec(said) ?? [];
  await workspace.resend(run, 'filtered', '--job', 'job.yaml');
  expect(await workspace.destinations()).toEqual(numbersOf(3));
  expect(await workspace.said('run', 'job.yaml')).not.toContain('--only filtered');
});

test('whom another where lets in, in a job that has other steps by now, is sent to by a job file with the steps of the run, as is said', async () => {
  const where = (named: object) => anSmsStep({ input: { files: 'people.csv', where: named } });
  const workspace = await aJobFor(people(4), { steps: [where({ name: { not: ['P1', 'P2'] } })] });
  await workspace.run();
  const all = where({ name: 'present' });
  workspace.change({ steps: [all, anSmsStep({ input: { files: 'people.csv' }, template: A_TEXT })] });
  const said = await workspace.said('plan', 'job.yaml');
  expect(said).not.toContain('--again');
  const advice = / a job file with the steps of that run .* retry (\S+) --only filtered /.exec(said);

  workspace.change({ steps: [all] }, 'rest.yaml');
  expect((await workspace.resend(advice?.[1] ?? '', 'filtered', '--job', 'rest.yaml')).code).toBe(0);
  expect(await workspace.destinations()).toEqual(numbersOf(4));
});

test('a run that is resumed after its text was corrected says that the planned one is sent, and how the corrected one is', async () => {
  const workspace = await aJobFor(people(30), {}, { kind: 'status-401', nth: 2 });
  await workspace.run();
  workspace.change({ steps: [anSmsStep({ template: A_TEXT })] });
  // It is refused before anything is sent.
  const { stderr } = await workspace.run('--confirm', '1');
  expect(stderr).toContain('the job has changed: template.text of step 1 (sms)');
  const run = workspace.firstRun();
  expect(stderr).toMatch(/`volley abandon \S+`, then `volley retry \S+ --only unprocessed --job job.yaml`/);
  await workspace.volley('abandon', run);
  await workspace.resend(run, 'unprocessed', '--job', 'job.yaml');
  const expected = [...Array(20).fill('De'), ...Array(10).fill('Hi')];
  expect((await workspace.sms()).map(({ text }) => text.slice(0, 2)).sort()).toEqual(expected);
});

test.each(['csv', 'ndjson', 'xlsx'])(
  'a step that is fed by the results of another goes on where that one had no file: as %s they have no column, and no row',
  async (format) => {
    const fed = anSmsStep({ input: { files: `out/sale/*/*-contacts.results.${format}` } });
    const workspace = await aJobFor(people(3), { steps: [aContactsStep(), fed], output: { format } });
    for (const _ of ['contacts', 'sms', 'of no row']) expect((await workspace.run()).code).toBe(0);
    expect((await workspace.told('check', 'job.yaml')).error).toBeNull();
    workspace.append('people.csv', people(1, 4).replace('name,mobile\n', ''));
    workspace.change({ steps: [aContactsStep(), fed], output: { format }, sameText: 'skip' });
    for (const _ of ['contacts', 'sms']) expect((await workspace.run()).code).toBe(0);
    expect(await workspace.destinations()).toEqual(numbersOf(4));
  },
);

test.each([
  ['a step more', [anSmsStep()], [aContactsStep(), anSmsStep()]],
  ['its steps swapped', [anSmsStep(), anSmsStep({ template: A_TEXT })], [anSmsStep({ template: A_TEXT }), anSmsStep()]],
])(
  'a retry under a job that has %s by now is refused, and goes without --job, as is said',
  async (_what, steps, now) => {
    const workspace = await aJobFor(people(3), { steps }, { kind: 'empty', nth: 1 });
    const { directory } = (await workspace.run()).summary;
    await workspace.settle(directory, 'not-sent', 3);
    const before = (await workspace.sms()).length;
    workspace.change({ steps: now });
    const { error } = await workspace.retry(directory, 'not-sent', '--job', 'job.yaml');
    expect(error.hint).toContain('or leave out --job');
    // The step that is put in has something new to send.
    const said = await workspace.said('plan', 'job.yaml');
    if (steps.length === now.length) expect(said).toMatch(/as they were planned.* retry \S+ --only not-sent /);
    expect((await workspace.resend(directory, 'not-sent')).code).toBe(0);
    expect(await workspace.sms()).toHaveLength(before + 3);
  },
);

test('a run whose steps were taken out of the job is brought to its end with their keys: its contacts are made, and the dialer runs again', async () => {
  const dialer = (set: string) => ({ kind: 'campaign', campaign: 101, set, always: set === 'RUNNING' });
  const sms = anSmsStep();
  const steps = [dialer('PAUSED'), aContactsStep(), sms, dialer('RUNNING')];
  const workspace = await aJobOfSteps(people(3), steps, { kind: 'status-401', area: 'contacts', nth: 2 });
  expect((await workspace.run()).summary.stop?.reason).toBe('unauthorized');

  workspace.writeJob(aJobOfAreas(workspace, [sms]));
  const resumed = await workspace.run();
  expect([resumed.code, resumed.summary.balance]).toMatchObject([0, { accepted: 6 }]);
  expect((await workspace.client.entries('campaign')).at(-1)).toMatchObject({ status: 3 });
});

test('a run that has still to send to an area of which the job has no key any more is refused, with what can be done', async () => {
  const conversations = { kind: 'conversations', ...OF_PEOPLE, channel: 'sandbox-channel', user: { name: 'name' } };
  const workspace = await aJobOfSteps(people(3), [conversations], { kind: 'status-401', area: 'gateway', nth: 2 });
  const { directory, plan } = (await workspace.run()).summary;
  workspace.change();
  const why = `Cannot resume run ${plan}: step 1 (conversations) of it is not done, and the job has no credentials for gateway any more`;
  await workspace.expectRefused(['run', 'job.yaml'], 2, 'bad-credentials', why);
  expect(workspace.requests()).toHaveLength(2);
  expect((await workspace.volley('abandon', directory)).code).toBe(0);
  expect((await workspace.run()).code).toBe(0);
});
