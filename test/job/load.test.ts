import { memfs } from 'memfs';
import { describe, expect, test } from 'vitest';
import { loadJob, parseJob } from '../../src/job/load.js';
import { createFiles, type RawFiles } from '../../src/storage/files.js';
import {
  ALL_CREDENTIALS,
  aCampaignStep,
  aChatStep,
  aContactsStep,
  aConversationsStep,
  aJobFile,
  anSmsStep,
  aService,
  inputOf,
} from './a-job-file.js';

const WHOLE = `
name: spring-sale
service:
  account: acme
  credentials: { apiKey: { env: VOLLEY_API_KEY } }
steps:
  - kind: contacts
    input: { files: [../samples/contacts.csv], country: sg }
    fields: { firstName: first_name, msisdn: mobile }
    groups: [1042]
  - kind: sms
    input: { files: ["../samples/recipients*.csv", "-"], countryColumn: country }
    destination: mobile
    template: { source: ACME, text: "Hi {{ first_name | default: 'there' }}" }
    suppress: { files: [../samples/opt-outs.csv] }
    limits: { requestsPerSecond: 20 }
limits: { requestsPerSecond: 5, concurrency: 2 }
guards: { maxRejectedPercent: 5 }
output: { directory: ../out, format: ndjson }
`;

describe('a faultless job', () => {
  test('has every default filled and every path absolute', () => {
    const apiKey = { env: 'VOLLEY_API_KEY' };
    const input = {
      limits: { maxFieldBytes: 1_048_576, maxColumns: 1000, maxLineBytes: 16_777_216, maxFileBytes: 68_719_476_736 },
    };
    const limits = { messagesPerSecond: undefined, segmentsPerSecond: undefined, concurrency: 2 };

    expect(parseJob(WHOLE, '/home/ann/jobs/sale.yaml')).toEqual({
      name: 'spring-sale',
      service: {
        sandbox: false,
        account: 'acme',
        subAccountId: 'acme_hq',
        bases: {
          sms: 'https://sms.8x8.com',
          contacts: 'https://contacts.8x8.com',
          verification: 'https://verify.8x8.com',
          gateway: 'https://api.8x8.com',
          campaign: '',
          chat: 'https://api.8x8.com',
        },
        credentials: { sms: { apiKey }, contacts: { apiKey }, verification: { apiKey } },
        timeouts: { connectSeconds: 10, answerSeconds: 60 },
        giveUpAfterSeconds: 900,
        trustUnavailable: false,
      },
      steps: [
        {
          kind: 'contacts',
          input: { ...input, files: ['/home/ann/samples/contacts.csv'], country: 'SG' },
          fields: { firstName: 'first_name', msisdn: 'mobile' },
          customAttributes: {},
          groups: [1042],
          limits: { ...limits, requestsPerSecond: 5 },
        },
        {
          kind: 'sms',
          input: { ...input, files: ['/home/ann/samples/recipients*.csv', '-'], countryColumn: 'country' },
          destination: 'mobile',
          template: {
            source: 'ACME',
            text: "Hi {{ first_name | default: 'there' }}",
            encoding: 'AUTO',
            smartReplace: false,
          },
          batchSize: 1000,
          duplicates: 'skip',
          suppress: [{ ...input, files: ['/home/ann/samples/opt-outs.csv'] }],
          limits: { ...limits, requestsPerSecond: 20, messagesPerSecond: expect.any(Number) },
        },
      ],
      guards: { maxRejectedPercent: 5, maxFailedPercent: 50, requireTest: false },
      failOn: 'rejections',
      repeat: 'never',
      sameTextWithin: 14 * 86_400_000,
      output: { directory: '/home/ann/out', format: 'ndjson' },
      directory: '/home/ann/jobs',
    });
  });

  test('needs nothing but steps when it runs on the sandbox, and reaches nothing else, whatever it says of the service', () => {
    const nothing = parseJob(aJobFile({ service: { sandbox: true } }), '/jobs/sale.yaml').service;
    const written = aService({ sandbox: true, bases: { sms: 'https://sms.example.com' } });
    const kept = parseJob(aJobFile({ service: written }), '/jobs/sale.yaml').service;
    for (const service of [nothing, kept]) {
      expect(service).toMatchObject({ account: 'acme', subAccountId: 'acme_hq' });
      expect(service.credentials).toEqual({});
      expect(Object.values(service.bases)).toEqual(Array(6).fill('http://127.0.0.1:0'));
    }
  });

  test('is named for its file when it does not say', () => {
    expect(parseJob(aJobFile(), '/jobs/spring-sale.yaml').name).toBe('spring-sale');
    expect(parseJob(aJobFile(), '/jobs/sale.2026.json').name).toBe('sale.2026');
  });

  test('has the credentials of each area, its own before those of all, with secret files beside the job file', () => {
    const { apiKey, ...own } = ALL_CREDENTIALS;
    const files = { username: 'acme', dataToken: { file: 'keys/data' }, actionToken: { file: '/run/action' } };
    const credentials = { ...own, apiKey, sms: { apiKey: { file: 'keys/sms' } }, campaign: files };
    const service = aService({ ccPlatform: 'na12', credentials });
    expect(parseJob(aJobFile({ service }), '/jobs/a.yaml').service.credentials).toEqual({
      ...own,
      sms: { apiKey: { file: '/jobs/keys/sms' } },
      contacts: { apiKey },
      verification: { apiKey },
      campaign: { ...files, dataToken: { file: '/jobs/keys/data' } },
    });
  });

  test('takes a base before the region, without its last slash, and http from this machine only', () => {
    const bases = { sms: 'http://127.0.0.1:4010/', contacts: 'https://c.example.com/api/v1/' };
    const job = parseJob(aJobFile({ service: aService({ region: 'europe', bases }) }), '/jobs/sale.yaml');
    expect(job.service.bases).toMatchObject({
      sms: 'http://127.0.0.1:4010',
      contacts: 'https://c.example.com/api/v1',
      verification: 'https://verify.8x8.uk',
    });
  });

  test.each([
    [{ ccPlatform: 'EU3' }, 'https://vcc-eu3.8x8.com'],
    [{ ccPlatform: 'ca-1' }, 'https://vcc-ca-1.8x8.com'],
    [{ ccPlatform: 'na12', bases: { campaign: 'https://cc.example/' } }, 'https://cc.example'],
    [{ ccPlatform: 'BC2', bases: { campaign: 'https://odcc2.bell.ca' } }, 'https://odcc2.bell.ca'],
    [{}, ''],
  ])('with %j reaches the contact center at "%s"', (service, base) => {
    expect(parseJob(aJobFile({ service: aService(service) }), 'a.yaml').service.bases.campaign).toBe(base);
  });

  test('needs no account where no step has it in an address', () => {
    const service = { ccPlatform: 'eu3', credentials: ALL_CREDENTIALS };
    const text = aJobFile({ service, steps: [aConversationsStep(), aCampaignStep(), aChatStep()] });
    expect(parseJob(text, 'a.yaml').service).toMatchObject({ account: '', subAccountId: '' });
  });

  test('keeps a glob a glob, and its own directory as it is called', () => {
    const text = aJobFile({ steps: [anSmsStep({ input: { files: ['in/*.csv', 'one.csv'] } })] });
    const expected = ['/data/[2026]/in/*.csv', '/data/[2026]/one.csv'];
    expect(inputOf(parseJob(text, '/data/[2026]/sale.yaml')).files).toEqual(expected);
  });

  test('reads NO as Norway, and no as well', () => {
    const steps = '[{kind: sms, destination: m, template: {text: a}, input: {files: a.csv, country: NO}}]';
    const job = parseJob(`service: {sandbox: true}\nsteps: ${steps}`, 'sale.yaml');
    expect(inputOf(job).country).toBe('NO');
    expect(parseJob(`service: {sandbox: true}\nsteps: ${steps.replace('NO', 'no')}`, 'sale.yaml')).toEqual(job);
  });

  test('reads tab as a delimiter', () => {
    const text = aJobFile({ steps: [anSmsStep({ input: { files: 'a.tsv', delimiter: 'tab', encoding: ' GBK ' } })] });
    expect(inputOf(parseJob(text, 'sale.yaml'))).toMatchObject({ delimiter: '\t', encoding: 'gbk' });
  });

  test('takes the rest of the columns as attributes, or a map of them', () => {
    const attributes = (customAttributes: unknown) => {
      const [step] = parseJob(aJobFile({ steps: [aContactsStep({ customAttributes })] }), 'sale.yaml').steps;
      return step?.kind === 'contacts' ? step.customAttributes : undefined;
    };
    for (const map of [{ tier: 'Loyalty tier' }, { tier: 'Tier', rest: 'Remainder' }])
      expect(attributes(map)).toEqual(map);
    expect(attributes('rest')).toEqual({ rest: { except: [], rename: {} } });
    expect(attributes('rest')).toEqual(attributes({ rest: {} }));
    const rest = { except: ['notes'], rename: { tier: 'level' } };
    expect(attributes({ rest })).toEqual({ rest });
  });

  test('may begin with a byte order mark, and name its schema', () => {
    expect(parseJob(`\uFEFF${aJobFile({ $schema: 'job.schema.json' })}`, 'sale.yaml').name).toBe('sale');
  });
});

describe('loadJob', () => {
  const disk = (tree: Record<string, string | null>) => {
    const { fs } = memfs(tree);
    return createFiles(fs.promises as unknown as RawFiles);
  };

  test('reads the file and resolves paths from where it stands', async () => {
    const job = await loadJob('/jobs/sale.yaml', disk({ '/jobs/sale.yaml': aJobFile() }));
    expect(inputOf(job).files).toEqual(['/jobs/people.csv']);
  });

  test.each([
    ['/jobs/none.yaml', 'there is no such file, expected a YAML file'],
    ['/jobs', 'it is not a file, '],
    // Which is not read.
    ['/jobs/big.yaml', 'it is longer than 1 MiB'],
    ['/jobs/sale.yaml', 'the system reports EACCES'],
  ])('refuses %s: %s', async (path, why) => {
    const { stat } = disk({ '/jobs/sale.yaml': '', '/jobs/big.yaml': 'a'.repeat(1024 * 1024 + 1) });
    const readText = async (name: string) => {
      if (name.includes('none')) return undefined;
      throw Object.assign(new Error('no'), { code: 'EACCES' });
    };
    const refusal = { code: 'bad-job', message: expect.stringContaining(`Cannot read the job ${path}: ${why}`) };
    await expect(loadJob(path, { stat, readText })).rejects.toMatchObject(refusal);
  });
});
