import { describe, expect, test } from 'vitest';
import type { WorkerJob } from '../../src/cluster/worker-job.js';
import { assertTrusted, readTrust } from '../../src/cluster/worker-trust.js';
import { basesByRegion, REGIONS } from '../../src/domain/service-facts.js';
import type { SecretSource } from '../../src/job/job.js';
import { parseJob } from '../../src/job/load.js';

const SMS = { kind: 'sms', input: { files: 'a.csv' }, destination: 'mobile', template: { text: 'Hi' } };
const ENV = { env: 'VOLLEY_DATABASE_URL' };
const NOTHING = { allowUrls: [], allowSecrets: [], database: ENV };

function aWorkerJob(service: object, steps: readonly object[] = [SMS]): WorkerJob {
  const credentials = { apiKey: { env: 'VOLLEY_API_KEY' } };
  const written = { name: 'sale', service: { account: 'acme', credentials, ...service }, steps };
  return { ...parseJob(JSON.stringify(written), '/jobs/sale.json'), maxFailedPercent: 20 };
}

/** What a job in the database says, that no job file could. */
function aForgedJob(base: unknown): WorkerJob {
  const job = aWorkerJob({});
  return { ...job, service: { ...job.service, bases: { ...job.service.bases, sms: base as string } } };
}

const check = (job: WorkerJob, flags: Partial<Parameters<typeof readTrust>[0]> = {}) =>
  assertTrusted('k3v9q2m8x4aa', job, readTrust({ ...NOTHING, ...flags }));

describe('addresses', () => {
  test.each(REGIONS)('those of the service in %s are trusted', (region) => {
    expect(() => check(aWorkerJob({ region }))).not.toThrow();
    for (const base of Object.values(basesByRegion[region])) expect(() => check(aForgedJob(base))).not.toThrow();
  });

  test.each(['http://127.0.0.1:4010', 'http://localhost:4010', 'https://[::1]:4010', 'https://api.8x8.com/prefix'])(
    '%s is trusted',
    (base) => {
      expect(() => check(aForgedJob(base))).not.toThrow();
    },
  );

  test.each([
    'https://sms.example.com',
    'https://sms.8x8.com.example.com',
    'https://sms.8x8.com@example.com',
    'https://sms.8x8.com:8443',
    'http://sms.8x8.com',
    'https://8x8.com',
    'http://127.0.0.1.example.com',
    'http://10.0.0.7:4010',
    'file:///etc/passwd',
    '',
    undefined,
  ])('%s is refused', (base) => {
    expect(() => check(aForgedJob(base))).toThrow(
      expect.objectContaining({
        code: 'unsafe-environment',
        message: `Cannot work on run k3v9q2m8x4aa of job sale: it sends to ${JSON.stringify(base)}, expected an address of the service, or of this machine`,
      }),
    );
  });

  test('one is trusted that was allowed, and no other port or host of it', () => {
    const allowUrls = ['https://sms-proxy.example.com/', 'https://other.example.com:8443'];
    expect(() => check(aForgedJob('https://sms-proxy.example.com/prefix'), { allowUrls })).not.toThrow();
    expect(() => check(aForgedJob('https://other.example.com:8443'), { allowUrls })).not.toThrow();
    for (const base of ['https://sms-proxy.example.com:8443', 'https://example.com', 'http://sms-proxy.example.com'])
      expect(() => check(aForgedJob(base), { allowUrls })).toThrow('it sends to');
  });

  test.each([
    'sms.example.com',
    'http://sms.example.com',
    'https://a:b@sms.example.com',
    'https://sms.example.com/v1',
    '',
  ])('only an origin can be allowed: not %j', (url) => {
    expect(() => readTrust({ ...NOTHING, allowUrls: [url] })).toThrow(
      expect.objectContaining({ code: 'bad-flag', message: expect.stringContaining('Cannot work: --allow-url is') }),
    );
  });

  test('those of steps without rows do not count: the leader sends them', () => {
    const campaign = { kind: 'campaign', campaign: 101, expect: ['PAUSED'], set: 'RUNNING' };
    const credentials = {
      apiKey: { env: 'VOLLEY_API_KEY' },
      campaign: { username: 'acme', dataToken: { env: 'DATA_TOKEN' }, actionToken: { env: 'ACTION_TOKEN' } },
    };
    const bases = { campaign: 'https://odcc2.bell.ca' };

    expect(() => check(aWorkerJob({ credentials, bases }, [campaign, SMS]))).not.toThrow();
  });
});

describe('secrets', () => {
  const withKey = (apiKey: SecretSource) => aWorkerJob({ credentials: { apiKey } });

  test.each([{ env: 'AWS_SECRET_ACCESS_KEY' }, { env: 'PATH' }, { file: '/etc/shadow' }, { file: 'VOLLEY_KEY' }])(
    '%j is refused',
    (apiKey) => {
      const name = apiKey.env ?? (apiKey.file?.startsWith('/') ? apiKey.file : `/jobs/${apiKey.file}`);
      expect(() => check(withKey(apiKey as SecretSource))).toThrow(
        expect.objectContaining({
          code: 'unsafe-environment',
          message: expect.stringContaining(`its key of sms is in ${name}, expected`),
          hint: `If that is meant, start the worker with --allow-secret-${apiKey.env === undefined ? 'file' : 'env'} ${name}`,
        }),
      );
    },
  );

  test('one is trusted that was allowed', () => {
    expect(() => check(withKey({ env: 'ACME_KEY' }), { allowSecrets: ['ACME_KEY'] })).not.toThrow();
    expect(() => check(withKey({ file: '/run/key' }), { allowSecrets: ['/run/key'] })).not.toThrow();
    expect(() => check(withKey({ file: '/run/key2' }), { allowSecrets: ['/run/key'] })).toThrow('/run/key2');
  });

  test.each([ENV, { env: 'VOLLEY_OTHER_URL' }, { file: '/run/url' }])(
    'the address of the database is none, even if it was allowed: %j',
    (database) => {
      const name = 'env' in database ? database.env : database.file;
      expect(() => check(withKey(database), { database, allowSecrets: [name] })).toThrow('not that of the database');
    },
  );
});
