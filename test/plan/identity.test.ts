import { describe, expect, it } from 'vitest';
import type { Job } from '../../src/job/job.js';
import { aMemoryDisk } from '../storage/a-memory-disk.js';
import {
  aContactsStep,
  aCsvOf,
  aFolder,
  aJob,
  anInput,
  anSmsStep,
  aPlan,
  aService,
  aTemplate,
  makeAPlan,
  type PlanOptions,
  someLimits,
} from './a-plan.js';

const PEOPLE = { 'people.csv': aCsvOf(5) };
const idOf = async (options: PlanOptions = {}) => (await aPlan({ files: PEOPLE, ...options })).plan.id;
const idOfJob = (job: Partial<Job>) => idOf({ job });

describe('same job and same input', () => {
  it('make byte-identical plan files', async () => {
    const files = aFolder(PEOPLE);
    const job = { steps: [aContactsStep(), anSmsStep({ text: 'Hi {{ name }}', batchSize: 2 })] };
    const one = await aPlan({ files, job });
    const other = await aPlan({ files, job, jobDirectory: '/out/elsewhere' });
    // Where a plan was made is what tells it from a copy.
    const { 'run.json': place, ...written } = one.disk.snapshot(one.directory);
    const { 'run.json': otherPlace, ...otherWritten } = other.disk.snapshot(other.directory);
    expect(otherPlace).not.toEqual(place);
    expect(Object.keys(written).sort()).toEqual([
      '1-contacts.requests.ndjson',
      '1-contacts.rows.ndjson',
      '2-sms.requests.ndjson',
      '2-sms.rows.ndjson',
      'plan.json',
    ]);
    expect(otherWritten).toEqual(written);
  });

  it('make the same id and requests from a copy of the folder, with another output directory', async () => {
    const one = await aPlan({ files: PEOPLE });
    const other = await aPlan({ files: PEOPLE, job: { output: { directory: '/elsewhere', format: 'ndjson' } } });
    expect(one.job.directory).not.toBe(other.job.directory);
    expect(other.plan.id).toBe(one.plan.id);
    expect(other.requests).toEqual(one.requests);
    expect(other.rows).toEqual(one.rows);
  });

  it('planned again, leave the receipts in the draft and what a listener holds, and nothing else of it', async () => {
    const disk = aMemoryDisk();
    const { directory } = await aPlan({ disk });
    disk.write(`${directory}/receipts.ndjson`, 'kept');
    disk.write(`${directory}/1-sms.rejections.csv`, 'of a guard that held');
    const names = disk.list(directory).filter((name) => !name.endsWith('.csv'));
    const written: string[] = [];
    disk.onOperation = (operation) => written.push(operation);

    await aPlan({ disk });

    expect(disk.list(directory)).toEqual(names);
    expect(disk.readText(`${directory}/receipts.ndjson`)).toBe('kept');
    const touching = written.filter((operation) => /^(rename|rm) /.test(operation) && operation.includes(directory));
    expect(touching[0], 'no half plan can be taken for a whole one').toBe(`rename ${directory}/plan.json`);
    expect(disk.readText(`${directory}/plan.json`)).toContain('"format"');
  });

  it('planned again, take the place of the draft', async () => {
    const files = aFolder(PEOPLE);
    const disk = aMemoryDisk();
    const one = await aPlan({ files, disk });
    const draft = disk.snapshot('/out/sale');
    const other = await aPlan({ files, disk, job: { guards: { ...aJob().guards, maxMessages: 9 } } });
    expect(other).toMatchObject({ directory: one.directory, plan: { job: { guards: { maxMessages: 9 } } } });
    expect(Object.keys(disk.snapshot('/out/sale'))).toEqual(Object.keys(draft));
  });

  it('leave the draft as it is where the lock was lost meanwhile', async () => {
    const disk = aMemoryDisk();
    const { job } = await aPlan({ disk });
    const before = disk.snapshot('/out');
    const assertHeld = async () => {
      throw new Error('the lock is lost');
    };
    const guards = { ...job.guards, maxMessages: 9 };
    await expect(makeAPlan({ disk, job: { guards }, assertHeld })).rejects.toThrow('the lock is lost');
    expect(disk.snapshot('/out')).toEqual(before);
  });

  it('are not planned over a plan that was applied', async () => {
    const files = aFolder(PEOPLE);
    const disk = aMemoryDisk();
    const { directory } = await aPlan({ files, disk });
    disk.write(`${directory}/journal.ndjson`, '');
    const before = disk.snapshot('/out');
    await expect(aPlan({ files, disk })).rejects.toMatchObject({ code: 'lock-held' });
    expect(disk.snapshot('/out')).toEqual(before);
  });
});

describe('the id of a plan', () => {
  it.each<[string, Partial<Job>]>([
    ['subaccount', { service: aService({ subAccountId: 'acme_otp' }) }],
    ['address of the service', { service: aService({ bases: { ...aService().bases, sms: 'https://sms.other' } }) }],
    ['name of the job', { name: 'autumn' }],
    ['text of the template', { steps: [anSmsStep({ text: 'Hello!' })] }],
    ['sender', { steps: [anSmsStep({ template: aTemplate({ source: 'ACME' }) })] }],
    ['kind of the step', { steps: [aContactsStep()] }],
    ['number of steps', { steps: [anSmsStep(), anSmsStep()] }],
    ['batch size', { steps: [anSmsStep({ batchSize: 2 })] }],
    ['country that numbers are read in', { steps: [anSmsStep({ input: anInput({ country: 'MY' }) })] }],
    ['handling of duplicates', { steps: [anSmsStep({ duplicates: 'keep' })] }],
    ['limit that bounds a request', { steps: [anSmsStep({ limits: someLimits({ messagesPerSecond: 2 }) })] }],
  ])('changes with the %s', async (_what, job) => {
    expect(await idOfJob(job)).not.toBe(await idOfJob({}));
  });

  it('changes with the account and its id where requests have it in their address', async () => {
    const idOfContacts = (service: Partial<Job['service']>) =>
      idOfJob({ service: aService(service), steps: [aContactsStep()] });
    const accountId = 'f0b64e0c-6b7a-4d3c-9a2e-0f6d3c1b2a90';
    const ids = await Promise.all([{}, { account: 'other' }, { accountId }].map(idOfContacts));
    expect(new Set(ids).size).toBe(3);
    expect(await idOfJob({ service: aService({ account: 'other' }) })).toBe(await idOfJob({}));
  });

  it('changes with the occurrence', async () => {
    expect(await idOf({ occurrence: '2027-01-01' })).not.toBe(await idOf());
    expect(await idOf({ occurrence: 'again-1' })).not.toBe(await idOf({ occurrence: 'again-2' }));
  });

  it('changes with the content and the name of a file, and with a file more', async () => {
    const input = anInput({ files: ['*.csv'] });
    const job = { steps: [anSmsStep({ input })] };
    const base = await idOf({ job });
    const others = [
      { 'people.csv': aCsvOf(6) },
      { 'persons.csv': aCsvOf(5) },
      { 'people.csv': aCsvOf(5), 'z.csv': aCsvOf(1, 9) },
    ];
    const ids = await Promise.all(others.map((files) => idOf({ job, files })));
    expect(new Set([base, ...ids]).size).toBe(4);
  });

  it('changes with the content of a suppression list', async () => {
    const job = { steps: [anSmsStep({ suppress: [anInput({ files: ['stop.csv'] })] })] };
    const ids = await Promise.all(
      [1, 2].map((count) => idOf({ job, files: { ...PEOPLE, 'stop.csv': aCsvOf(count, 3) } })),
    );
    expect(new Set(ids).size).toBe(2);
  });

  it.each<[string, Partial<Job>]>([
    [
      'limits that bind no request',
      { steps: [anSmsStep({ limits: someLimits({ requestsPerSecond: 1, messagesPerSecond: 1000, concurrency: 1 }) })] },
    ],
    [
      'guards',
      { guards: { maxRejectedPercent: 1, maxMessages: 1e6, maxCost: '1', maxFailedPercent: 1, requireTest: false } },
    ],
    ['credentials', { service: aService({ credentials: { sms: { apiKey: { file: '/key' } } } }) }],
    ['time-outs', { service: aService({ timeouts: { connectSeconds: 1, answerSeconds: 1 }, giveUpAfterSeconds: 1 }) }],
    ['exit code that failures give', { failOn: 'nothing' }],
    ['way in which the files are named', { steps: [anSmsStep({ input: anInput({ files: ['peop*.csv'] }) })] }],
  ])('does not change with the %s', async (_what, job) => {
    expect(await idOfJob(job)).toBe(await idOfJob({}));
  });

  it('is twelve characters that no one misreads', async () => {
    expect(await idOf()).toMatch(/^[0-9a-hjkmnp-tv-z]{12}$/);
  });
});
