import { describe, expect, test } from 'vitest';
import { parseJob } from '../../../src/job/load.js';
import {
  aCampaignStep,
  aChatStep,
  aCheckStep,
  aContactsStep,
  aConversationsStep,
  aJobFile,
  allCredentials,
  anSmsStep,
  aService,
  aStartStep,
  everythingSaid,
  hintsOf,
  messagesOf,
  placesOf,
  refusalOf,
} from '../a-job-file.js';

const EVERY_STEP = [
  aContactsStep(),
  anSmsStep(),
  aStartStep(),
  aCheckStep(),
  aConversationsStep(),
  aCampaignStep(),
  aChatStep(),
];

const withCredentials = (credentials: unknown, ...steps: object[]) =>
  aJobFile({ service: { account: 'acme', ccPlatform: 'na12', credentials }, steps });

describe('the credentials of a job with every kind of step', () => {
  test('are those of each area, the shared key for sms, contacts and verification', () => {
    const { credentials } = parseJob(withCredentials(allCredentials(), ...EVERY_STEP), '/jobs/a.yaml').service;
    expect(credentials).toEqual({
      sms: { apiKey: { env: 'CONNECT_KEY' } },
      contacts: { apiKey: { env: 'CONNECT_KEY' } },
      verification: { apiKey: { env: 'CONNECT_KEY' } },
      gateway: { apiKey: { env: 'GATEWAY_KEY' } },
      campaign: { username: 'acme', dataToken: { env: 'DATA_TOKEN' }, actionToken: { env: 'ACTION_TOKEN' } },
      chat: { apiKey: { env: 'CHAT_KEY' } },
    });
  });

  test('hold no area that the job gives nothing for', () => {
    const { credentials } = parseJob(aJobFile(), 'a.yaml').service;
    expect(Object.keys(credentials)).toEqual(['sms', 'contacts', 'verification']);
  });

  test('find secret files beside the job file', () => {
    const written = {
      ...allCredentials(),
      gateway: { apiKey: { file: 'keys/gateway' } },
      campaign: { username: 'acme', dataToken: { file: 'keys/data' }, actionToken: { file: '/run/action' } },
    };
    expect(parseJob(withCredentials(written, ...EVERY_STEP), '/jobs/a.yaml').service.credentials).toMatchObject({
      gateway: { apiKey: { file: '/jobs/keys/gateway' } },
      campaign: { dataToken: { file: '/jobs/keys/data' }, actionToken: { file: '/run/action' } },
    });
  });

  test('are not needed on the sandbox, nor anything else of the service', () => {
    const { service } = parseJob(aJobFile({ service: { sandbox: true }, steps: EVERY_STEP }), 'a.yaml');
    expect(service.credentials).toEqual({});
    expect(new Set(Object.values(service.bases))).toEqual(new Set(['http://127.0.0.1:0']));
  });
});

describe('credentials that a step needs and that are missing', () => {
  test('are asked for area by area, and the shared key is not taken for those that have their own', () => {
    const text = withCredentials({ apiKey: { env: 'KEY' } }, ...EVERY_STEP);
    expect(messagesOf(text)).toEqual([
      'service.credentials has no key for gateway, expected gateway',
      'service.credentials has no tokens for campaign, expected campaign',
      'service.credentials has no key for chat, expected chat',
    ]);
    expect(hintsOf(text)).toEqual([
      'A step of this job uses gateway. apiKey is the key of sms, contacts, verification only. Write gateway: { apiKey: { env: NAME } }.',
      'A step of this job uses campaign. apiKey is the key of sms, contacts, verification only. Write campaign: { username: <tenant>, dataToken: { env: NAME }, actionToken: { env: NAME } }.',
      'A step of this job uses chat. apiKey is the key of sms, contacts, verification only. Write chat: { apiKey: { env: NAME } }.',
    ]);
  });

  test.each([
    ['verification.start', aStartStep()],
    ['verification.check', aCheckStep()],
  ])('are those of verification for %s', (_kind, step) => {
    const text = withCredentials({ sms: { apiKey: { env: 'KEY' } } }, step, anSmsStep());
    expect(messagesOf(text)).toEqual([
      'service.credentials has no key for verification, expected apiKey or verification',
    ]);
    expect(hintsOf(text)).toEqual([
      'A step of this job uses verification. Write apiKey: { env: NAME } for sms, contacts, verification, or verification: { apiKey: { env: NAME } }.',
    ]);
  });

  test('are asked for where the others stand', () => {
    const text = `service:
  account: acme
  credentials: { apiKey: { env: KEY } }
steps:
  - { kind: sms, input: { files: a.csv }, destination: a, template: { text: a } }
  - { kind: campaign, campaign: 1, set: PAUSED }
`;
    expect(placesOf(text)).toEqual([
      '1:1 service.ccPlatform is missing, expected the platform of the contact center, such as na12',
      '3:3 service.credentials has no tokens for campaign, expected campaign',
    ]);
  });

  test('are shown as they are to be written when there are none at all', () => {
    expect(hintsOf(withCredentials(undefined, anSmsStep()))).toEqual([
      'Write credentials: { apiKey: { env: VOLLEY_API_KEY } }, or sandbox: true to try the job without a key.',
    ]);
    const text = withCredentials(undefined, anSmsStep(), aContactsStep(), aChatStep());
    expect(messagesOf(text)).toEqual([
      'service.credentials is missing, expected where to find those of sms, contacts, chat',
    ]);
    expect(hintsOf(text)).toEqual([
      'Write credentials: { apiKey: { env: VOLLEY_API_KEY }, chat: { apiKey: { env: NAME } } }, or sandbox: true to try the job without them.',
    ]);
  });

  test('include the Action Request Token only where a step sets a status', () => {
    const credentials = { ...allCredentials(), campaign: { username: 'acme', dataToken: { env: 'DATA' } } };
    const reads = aCampaignStep({ set: undefined, expect: 'RUNNING' });
    const job = parseJob(withCredentials(credentials, reads, anSmsStep()), 'a.yaml');
    expect(job.service.credentials.campaign).toEqual({
      username: 'acme',
      dataToken: { env: 'DATA' },
      actionToken: undefined,
    });
    expect(messagesOf(withCredentials(credentials, reads, aCampaignStep(), anSmsStep()))).toEqual([
      'service.credentials.campaign.actionToken is missing, expected where to find the Action Request Token',
    ]);
  });

  test.each<[campaign: unknown, message: string]>([
    [{ dataToken: { env: 'D' } }, 'service.credentials.campaign.username is missing, expected text'],
    [
      { username: 'acme' },
      'service.credentials.campaign.dataToken is missing, expected { env: NAME } or { file: PATH }: a job file must not contain secrets',
    ],
    [
      { username: 'a:b', dataToken: { env: 'D' } },
      'service.credentials.campaign.username is plain text, expected text without a colon',
    ],
    [
      { username: 'a\nb', dataToken: { env: 'D' } },
      'service.credentials.campaign.username is plain text, expected text without control characters',
    ],
    [{ username: '', dataToken: { env: 'D' } }, 'service.credentials.campaign.username is empty, expected some text'],
    [{ username: 5, dataToken: { env: 'D' } }, 'service.credentials.campaign.username is a number, expected text'],
  ])('or not as they must be are refused: %o', (campaign, message) => {
    const steps = [aCampaignStep({ set: undefined, expect: 'NEW' }), anSmsStep()];
    expect(messagesOf(withCredentials({ ...allCredentials(), campaign }, ...steps))).toEqual([message]);
  });
});

describe('a secret written plainly', () => {
  const dataToken = { env: 'D' };
  test.each([
    ['for the gateway', { gateway: { apiKey: 'sk_live_1' } }],
    ['for the chat', { chat: 'sk_live_1' }],
    ['as a data token', { campaign: { username: 'acme', dataToken: 'sk_live_1' } }],
    ['as an action token', { campaign: { username: 'acme', dataToken, actionToken: { value: 'sk_live_1' } } }],
    ['as a key', { campaign: { username: 'acme', dataToken, sk_live_1: 'a' } }],
    ['behind the user name', { campaign: { username: 'acme:sk_live_1', dataToken } }],
  ])('%s is refused and not repeated', (_where, credentials) => {
    const refusal = refusalOf(withCredentials({ apiKey: { env: 'A' }, ...credentials }, anSmsStep()));
    expect(everythingSaid(refusal)).not.toContain('sk_live_1');
    expect(refusal.problems).toHaveLength(1);
  });
});

describe('the account', () => {
  test('is not needed where no step has it in an address', () => {
    const service = { ccPlatform: 'eu3', credentials: allCredentials() };
    const steps = [aConversationsStep(), aCampaignStep(), aChatStep()];
    expect(parseJob(aJobFile({ service, steps }), 'a.yaml').service).toMatchObject({ account: '', subAccountId: '' });
  });

  test.each([aContactsStep(), anSmsStep(), aStartStep(), aCheckStep()])('is needed for %o', (step) => {
    const service = { credentials: allCredentials() };
    expect(messagesOf(aJobFile({ service, steps: [step] }))).toEqual([
      "service.account is missing, expected the account's identifier",
    ]);
  });
});

describe('the contact center', () => {
  const baseOf = (service: Record<string, unknown>) =>
    parseJob(aJobFile({ service: aService(service) }), 'a.yaml').service.bases.campaign;

  test.each([
    ['na12', 'https://vcc-na12.8x8.com'],
    ['EU3', 'https://vcc-eu3.8x8.com'],
    ['ca-1', 'https://vcc-ca-1.8x8.com'],
    ['AP1', 'https://vcc-ap1.8x8.com'],
    ['au2', 'https://vcc-au2.8x8.com'],
    ['sbx9', 'https://vcc-sbx9.8x8.com'],
    ['SB7', 'https://vcc-sb7.8x8.com'],
  ])('on the platform %s is at %s', (ccPlatform, base) => {
    expect(baseOf({ ccPlatform })).toBe(base);
  });

  test.each(['us12', '12', 'na12.evil.example', 'na/12', 'na 12', 'na12-', 'na12#', `na${'1'.repeat(22)}`])(
    'has no platform %s',
    (ccPlatform) => {
      expect(messagesOf(aJobFile({ service: aService({ ccPlatform }) }))).toEqual([
        `service.ccPlatform is "${ccPlatform}", expected one of NA EU CA AP AU BC SB followed by up to 21 letters, digits or hyphens, such as na12`,
      ]);
    },
  );

  test('is at its base where one is given, and nowhere when nothing says where', () => {
    expect(baseOf({ ccPlatform: 'na12', bases: { campaign: 'https://cc.example/' } })).toBe('https://cc.example');
    expect(baseOf({})).toBe('');
  });

  test('must be known where a step uses it', () => {
    const service = (changes: object) => aService({ credentials: allCredentials(), ...changes });
    const text = (changes: object) => aJobFile({ service: service(changes), steps: [aCampaignStep(), anSmsStep()] });
    expect(messagesOf(text({}))).toEqual([
      'service.ccPlatform is missing, expected the platform of the contact center, such as na12',
    ]);
    expect(hintsOf(text({}))).toEqual([
      'A step of this job uses campaign. Write ccPlatform: <platform> as it stands in the address https://vcc-<platform>.8x8.com, or bases: { campaign: https://… }.',
    ]);
    expect(() => parseJob(text({ bases: { campaign: 'https://cc.example' } }), 'a.yaml')).not.toThrow();
  });

  test.each(['BC2', 'bc1', 'BC'])('of Bell Canada (%s) must be given: no rule forms it', (ccPlatform) => {
    const service = (changes: object) => aService({ credentials: allCredentials(), ccPlatform, ...changes });
    for (const steps of [[aCampaignStep(), anSmsStep()], [anSmsStep()]]) {
      const text = aJobFile({ service: service({}), steps });
      expect(messagesOf(text)).toEqual([
        `service.bases.campaign is missing, expected the address of the contact center: ${ccPlatform} is a platform of Bell Canada, whose addresses differ`,
      ]);
      expect(hintsOf(text).join()).toContain('https://odcc2.bell.ca');
    }
    const given = aJobFile({
      service: service({ bases: { campaign: 'https://odcc2.bell.ca' } }),
      steps: [aCampaignStep(), anSmsStep()],
    });
    expect(parseJob(given, 'a.yaml').service.bases.campaign).toBe('https://odcc2.bell.ca');
  });
});

describe('the account of contacts', () => {
  const UUID = '0a1b2c3d-0000-4000-8000-0123456789ab';

  test('is a UUID beside account, and is nowhere where the job gives none', () => {
    const written = (changes: Record<string, unknown>) =>
      parseJob(aJobFile({ service: aService(changes) }), 'a.yaml').service;
    expect(written({ accountId: UUID })).toMatchObject({ account: 'acme', accountId: UUID, subAccountId: 'acme_hq' });
    expect(written({ accountId: UUID.replaceAll('-', '') }).accountId).toBe(UUID.replaceAll('-', ''));
    expect(written({})).not.toHaveProperty('accountId');
  });

  test.each(['acme', '', `${UUID}0`, '../x'])('that is %j is refused', (accountId) => {
    expect(messagesOf(aJobFile({ service: aService({ accountId }) }))).toEqual([
      expect.stringContaining('expected a UUID, such as 0a1b2c3d-0000-4000-8000-0123456789ab'),
    ]);
  });
});

describe('the bases of gateway and chat', () => {
  test('are one host for every region', () => {
    const { bases } = parseJob(aJobFile({ service: aService({ region: 'indonesia' }) }), 'a.yaml').service;
    expect(bases).toMatchObject({ gateway: 'https://api.8x8.com', chat: 'https://api.8x8.com' });
  });

  test('can be given', () => {
    const given = { gateway: 'https://g.example/v/', chat: 'http://127.0.0.1:4010' };
    const { bases } = parseJob(aJobFile({ service: aService({ bases: given }) }), 'a.yaml').service;
    expect(bases).toMatchObject({ gateway: 'https://g.example/v', chat: 'http://127.0.0.1:4010' });
  });

  test.each(['gateway', 'campaign', 'chat'])('of %s must be safe', (area) => {
    expect(messagesOf(aJobFile({ service: aService({ bases: { [area]: 'http://a.example' } }) }))).toEqual([
      `service.bases.${area} is "http://a.example", expected https:// (http:// only for this machine itself)`,
    ]);
  });
});
