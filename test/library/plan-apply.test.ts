import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { apply, type PlanOptions, plan, type RunProgress, type WrittenJob } from '../../src/library.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { anSmsStep, people } from '../e2e/a-job.js';
import { aFolder } from '../plan/a-plan.js';

/** A folder with 25 people and one whose number is missing, and a job for them on the embedded sandbox. */
function aJobFolder(changes: object = {}) {
  const directory = aFolder({ 'people.csv': `${people(25)}Nobody,\n` });
  const job = {
    name: 'sale',
    service: { sandbox: true },
    steps: [anSmsStep()],
    output: 'out',
    ...changes,
  } as WrittenJob;
  const file = join(directory, 'job.yaml');
  writeFileSync(file, JSON.stringify(job));
  return { directory, job, file };
}

test('a job may be an object, whose paths begin where the program says', async () => {
  const { job, file, directory } = aJobFolder();
  expect(await plan(job, { directory })).toEqual(await plan(file));
});

test('a job may be a constant, whose lists no one may change', async () => {
  const { directory } = aJobFolder();
  const step = { kind: 'sms', input: { files: ['people.csv'], country: 'SG' }, destination: 'mobile' } as const;
  const job = { name: 'sale', service: { sandbox: true }, steps: [{ ...step, template: { text: 'Hi' } }] } as const;
  expect((await plan(job, { directory }))?.steps.map(({ counts }) => counts.planned)).toEqual([25]);
  // @ts-expect-error: a misspelt key
  await expect(plan({ ...job, outptu: 'out' }, { directory })).rejects.toMatchObject({ code: 'bad-job' });
});

test('a job that is an object must have a name, as it has no file to be named for', async () => {
  const { job, directory } = aJobFolder();
  const { name: _name, ...nameless } = job;
  await expect(plan(nameless, { directory })).rejects.toMatchObject({
    name: 'UserError',
    code: 'bad-job',
    message: 'Cannot use the job: name is missing, expected text',
    hint: expect.stringContaining('Add a name'),
  });
  const untyped = plan as (job: unknown) => Promise<unknown>;
  for (const none of [undefined, null, 5]) await expect(untyped(none)).rejects.toMatchObject({ code: 'bad-job' });
  expect(existsSync(join(directory, 'out'))).toBe(false);
});

test('what is wrong with a job that is an object is placed in no file', async () => {
  const { job, directory } = aJobFolder();
  for (const changes of [{ output: 5 }, { output: 5, repeat: 'daily' }]) {
    const error = await plan({ ...job, ...changes } as unknown as WrittenJob, { directory }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'bad-job', message: expect.stringMatching(/object:\d+:\d+/) });
    expect(error.problems[0]).toMatchObject({ where: expect.stringMatching(/^object:\d+:\d+$/), key: 'output' });
    expect(error.message + JSON.stringify(error.problems)).not.toContain(directory);
  }
});

test('of several problems the message says how many there are, and the first', async () => {
  const { file, directory } = aJobFolder({ output: 5, repeat: 'daily', failOn: 'never' });
  const error = await plan(file).catch((thrown) => thrown);
  expect(error).toMatchObject({ name: 'UserError', code: 'bad-job', problems: { length: 3 } });
  expect(error.message).toMatch(/3 problems.*job\.yaml:1:\d+: output is 5/);
  const input = (column: string) => anSmsStep({ destination: column });
  const lacking = aJobFolder({ steps: [input('phone'), input('tel')] });
  await expect(plan(lacking.file)).rejects.toThrow(/2 problems.*phone/);
  expect(existsSync(join(directory, 'out'))).toBe(false);
});

// A run waits a second behind what its account may have sent before: those that send do so at once.
test.concurrent('plan says what would be sent, apply sends it, and a second plan has nothing new', async () => {
  const { file, directory } = aJobFolder();

  const planned = await plan(file);

  expect(planned).toMatchObject({
    job: 'sale',
    directory: expect.stringMatching(
      new RegExp(`^${join(directory, 'out/sale')}/\\d{4}-\\d\\d-\\d\\dT\\d{4}-${planned!.plan}$`),
    ),
    steps: [
      { number: 1, kind: 'sms', counts: { read: 26, planned: 25, rejected: 1, requests: 3 }, files: ['people.csv'] },
    ],
  });
  const { openDoubt, ...summary } = await apply(planned!.directory, { confirm: planned!.plan });
  expect(summary).toMatchObject({ state: 'finished', exitCode: 1, balance: { read: 26, accepted: 25, rejected: 1 } });
  expect(openDoubt).toEqual({ rows: 0, runs: [] });
  expect(JSON.parse(readFileSync(join(planned!.directory, 'summary.json'), 'utf8'))).toEqual(summary);
  expect(await plan(file)).toBeUndefined();
  expect(await plan(file, { again: true })).toMatchObject({ job: 'sale' });
});

test.concurrent('a signal stops a run before its end, its notice is reported, and the same call resumes it', async () => {
  const { file } = aJobFolder();
  const planned = await plan(file);
  const stop = new AbortController();
  const onNotice = vi.fn();

  const stopped = await apply(planned!.directory, { signal: stop.signal, onProgress: () => stop.abort(), onNotice });

  expect(stopped).toMatchObject({ state: 'stopped', stop: { reason: 'interrupted' }, exitCode: 75 });
  expect(stopped.balance.unprocessed).toBeGreaterThan(0);
  expect(onNotice).toHaveBeenCalledWith(expect.stringContaining('nothing new is sent'));
  const expected = { state: 'finished', balance: { accepted: 25, unprocessed: 0 } };
  expect(await apply(planned!.directory)).toMatchObject(expected);
});

test.concurrent('secrets come from the environment that the program hands in', async ({ onTestFinished }) => {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.close());
  const service = { account: 'acme', credentials: { apiKey: { env: 'ACME_KEY' } }, bases: { sms: sandbox.origin } };
  const { file } = aJobFolder({ service });
  const planned = await plan(file);

  await expect(apply(planned!.directory, { env: {} })).rejects.toMatchObject({ code: 'bad-credentials' });
  const env = { ACME_KEY: sandbox.credentials.apiKey };
  expect(await apply(planned!.directory, { env })).toMatchObject({ state: 'finished', balance: { accepted: 25 } });
});

test.concurrent('a run that another call of the program works on is refused', async () => {
  const { file } = aJobFolder();
  const planned = await plan(file);
  const [one, other] = await Promise.allSettled([apply(planned!.directory), apply(planned!.directory)]);
  const refused = [one, other].filter(({ status }) => status === 'rejected');
  expect(refused).toMatchObject([{ reason: { name: 'UserError', code: 'lock-held' } }]);
});

test.concurrent('apply rejects for a plan other than the one that was reviewed, and for input that changed', async () => {
  const { file, directory } = aJobFolder();
  const planned = await plan(file);
  await expect(apply(planned!.directory, { confirm: 'zzzz' })).rejects.toMatchObject({ code: 'plan-mismatch' });
  writeFileSync(join(directory, 'people.csv'), people(3));
  await expect(apply(planned!.directory)).rejects.toMatchObject({ code: 'input-changed' });
  expect(await apply(planned!.directory, { ignoreChangedInputs: true })).toMatchObject({ balance: { accepted: 25 } });
});

test('progress and log go to the program; the streams of the process stay silent', async () => {
  const { file } = aJobFolder();
  const out = vi.spyOn(process.stdout, 'write');
  const err = vi.spyOn(process.stderr, 'write');
  const signals = process.listenerCount('SIGTERM') + process.listenerCount('SIGINT');
  const phases: RunProgress[] = [];
  const onProgress = (progress: RunProgress) => {
    phases.push(progress);
    expect(process.listenerCount('SIGTERM') + process.listenerCount('SIGINT')).toBe(signals);
  };
  try {
    const planned = await plan(file, { onProgress });
    await apply(planned!.directory, { onProgress });
    expect([...out.mock.calls, ...err.mock.calls]).toEqual([]);
  } finally {
    vi.restoreAllMocks();
  }
  expect(phases.at(-1)).toMatchObject({ phase: 'sending', kind: 'sms', rows: 25, settled: 25, accepted: 25 });
});

test.each([
  ['a faulty job', 'bad-job', { steps: [] }, {}],
  ['a guard', 'guard', { guards: { maxRejectedPercent: 1 } }, {}],
  ['standard input', 'bad-input', { steps: [anSmsStep({ input: { files: '-', country: 'SG' } })] }, {}],
  ['a signal that has aborted', 'interrupted', {}, { signal: AbortSignal.abort() }],
])('plan rejects for %s with the UserError %s', async (_what, code, changes, options) => {
  const { file } = aJobFolder(changes);
  await expect(plan(file, options)).rejects.toMatchObject({ name: 'UserError', code });
});

test('what is no option, or of another type, is refused by name: a misspelt confirm would confirm nothing', async () => {
  const { job, file, directory } = aJobFolder();
  const given = { confrim: 'x', signal: new AbortController(), onProgress: 5, log: { info: () => {} }, env: 'x' };
  const untyped = apply as (run: unknown, options?: unknown) => Promise<unknown>;
  const refused = [
    'options: has "confrim"',
    'expected an AbortSignal',
    'expected a function',
    'info, warn and error',
    '',
  ];
  for (const [at, [name, value]] of Object.entries(given).entries()) {
    const options = { [name]: value, directory };
    const code = 'bad-input';
    const message = expect.stringContaining(refused[at] ?? '');
    await expect(plan(job, options as PlanOptions)).rejects.toMatchObject({ name: 'UserError', code, message });
    await expect(untyped(directory, { [name]: value })).rejects.toMatchObject({ name: 'UserError', code, message });
  }
  await expect(plan(file, null as unknown as PlanOptions)).rejects.toMatchObject({ code: 'bad-input' });
  expect(existsSync(join(directory, 'out'))).toBe(false);

  const planned = await plan(file);
  for (const none of [undefined, planned]) await expect(untyped(none)).rejects.toMatchObject({ code: 'bad-plan' });
});

test('an object that JSON cannot hold is a faulty job', async () => {
  const { job, directory } = aJobFolder();
  const cyclic: Record<string, unknown> = { ...job };
  cyclic.output = cyclic;
  for (const odd of [cyclic, { ...job, failOn: 5n }]) {
    const planning = plan(odd as unknown as WrittenJob, { directory });
    await expect(planning).rejects.toMatchObject({ name: 'UserError', code: 'bad-job' });
  }
});

test('one signal goes with any number of runs, and Node warns of no leak', async () => {
  const warnings: string[] = [];
  const listen = (warning: Error) => warnings.push(warning.name);
  process.on('warning', listen);
  const { job, directory } = aJobFolder();
  const { signal } = new AbortController();
  const planOne = (_: unknown, at: number) => plan({ ...job, name: `sale-${at}` }, { directory, signal });
  const planned = await Promise.all(Array.from({ length: 12 }, planOne));
  // Node reports it in a later turn.
  await new Promise(setImmediate);
  process.off('warning', listen);
  expect(planned.every((each) => each !== undefined)).toBe(true);
  expect(warnings).toEqual([]);
});
