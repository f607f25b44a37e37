import { type Area, KINDS } from '../../domain/areas.js';
import { REGIONAL_AREAS } from '../../domain/service-facts.js';
import { DEFAULT_SUB_ACCOUNT_SUFFIX, SUB_ACCOUNT_ID } from '../defaults.js';
import { type Finding, isMapping, valueAt } from '../explain/finding.js';
import { listSteps } from '../explain/written-steps.js';
import { DOCUMENTED_ADDRESS, isOfBellCanada } from '../platforms.js';

/** Without the sandbox a job needs, for each area that its steps use, the address and the credentials; and the account, which some addresses hold. */
export function requireAccess(job: unknown): Finding[] {
  const service = valueAt(job, ['service']);
  const misnamed = checkDefaultSubAccount(job);
  if (!isMapping(service) || service.sandbox === true) return misnamed;
  const areas = [...new Set(listSteps(job).map(({ kind }) => KINDS[kind].area))];
  return [
    ...requireAccount(service, areas),
    ...requirePlatform(service, areas),
    ...requireBellCanadaBase(service),
    ...requireCredentials(service, areas),
    ...requireActionToken(job),
    ...misnamed,
  ];
}

/** The contract has the account, or a subaccount of it, in the addresses of these areas only; one key serves them all. */
const ACCOUNT_AREAS: readonly Area[] = REGIONAL_AREAS;

function requireAccount(service: Record<string, unknown>, areas: readonly Area[]): Finding[] {
  const isNeeded = areas.length === 0 || areas.some((area) => ACCOUNT_AREAS.includes(area));
  if (service.account !== undefined || !isNeeded) return [];
  return [
    {
      at: ['service', 'account'],
      message: "service.account is missing, expected the account's identifier",
      hint: 'Write account: <identifier>, or sandbox: true to try the job without an account.',
    },
  ];
}

function requirePlatform(service: Record<string, unknown>, areas: readonly Area[]): Finding[] {
  const isGiven = service.ccPlatform !== undefined || valueAt(service, ['bases', 'campaign']) !== undefined;
  if (isGiven || !areas.includes('campaign')) return [];
  return [
    {
      at: ['service', 'ccPlatform'],
      message: 'service.ccPlatform is missing, expected the platform of the contact center, such as na12',
      hint: 'A step of this job uses campaign. Write ccPlatform: <platform> as it stands in the address https://vcc-<platform>.8x8.com, or bases: { campaign: https://… }.',
    },
  ];
}

/** Whatever the steps are: only campaigns use a platform. */
function requireBellCanadaBase({ ccPlatform, bases }: Record<string, unknown>): Finding[] {
  if (typeof ccPlatform !== 'string' || !isOfBellCanada(ccPlatform)) return [];
  if (valueAt(bases, ['campaign']) !== undefined) return [];
  return [
    {
      at: ['service', 'bases', 'campaign'],
      message: `service.bases.campaign is missing, expected the address of the contact center: ${ccPlatform} is a platform of Bell Canada, whose addresses differ`,
      hint: `Write bases: { campaign: https://… } as it stands in the address of your contact center; ${DOCUMENTED_ADDRESS}.`,
    },
  ];
}

function requireCredentials(service: Record<string, unknown>, areas: readonly Area[]): Finding[] {
  const { credentials } = service;
  const at = ['service', 'credentials'];
  if (credentials === undefined) {
    const isKeyEnough = areas.every((area) => ACCOUNT_AREAS.includes(area));
    const expected = isKeyEnough ? 'where to find the API key' : `where to find those of ${areas.join(', ')}`;
    return [
      {
        at,
        message: `service.credentials is missing, expected ${expected}`,
        hint: `Write credentials: { ${describeAll(areas)} }, or sandbox: true to try the job without ${isKeyEnough ? 'a key' : 'them'}.`,
      },
    ];
  }
  if (!isMapping(credentials)) return [];
  return areas
    .filter((area) => credentials[area] === undefined)
    .filter((area) => credentials.apiKey === undefined || !ACCOUNT_AREAS.includes(area))
    .map((area) => ({ at: [...at, area], ...describeMissing(area, credentials.apiKey !== undefined) }));
}

function describeMissing(area: Area, hasSharedKey: boolean): Pick<Finding, 'message' | 'hint'> {
  const used = `A step of this job uses ${area}.`;
  if (ACCOUNT_AREAS.includes(area)) {
    return {
      message: `service.credentials has no key for ${area}, expected apiKey or ${area}`,
      hint: `${used} Write apiKey: { env: NAME } for ${ACCOUNT_AREAS.join(', ')}, or ${area}: { apiKey: { env: NAME } }.`,
    };
  }
  const what = area === 'campaign' ? 'tokens' : 'key';
  const why = hasSharedKey ? ` apiKey is the key of ${ACCOUNT_AREAS.join(', ')} only.` : '';
  return {
    message: `service.credentials has no ${what} for ${area}, expected ${area}`,
    hint: `${used}${why} Write ${EXAMPLES[area]}.`,
  };
}

const SHARED_EXAMPLE = 'apiKey: { env: VOLLEY_API_KEY }';
const EXAMPLES: Readonly<Record<Area, string>> = {
  sms: SHARED_EXAMPLE,
  contacts: SHARED_EXAMPLE,
  verification: SHARED_EXAMPLE,
  gateway: 'gateway: { apiKey: { env: NAME } }',
  campaign: 'campaign: { username: <tenant>, dataToken: { env: NAME }, actionToken: { env: NAME } }',
  chat: 'chat: { apiKey: { env: NAME } }',
};

function describeAll(areas: readonly Area[]): string {
  return [...new Set(areas.length === 0 ? [SHARED_EXAMPLE] : areas.map((area) => EXAMPLES[area]))].join(', ');
}

/** Reading a campaign takes one token, changing it another. */
function requireActionToken(job: unknown): Finding[] {
  const at = ['service', 'credentials', 'campaign'];
  const campaign = valueAt(job, at);
  if (!isMapping(campaign) || campaign.actionToken !== undefined) return [];
  if (!listSteps(job).some(({ kind, step }) => kind === 'campaign' && step.set !== undefined)) return [];
  return [
    {
      at: [...at, 'actionToken'],
      message: 'service.credentials.campaign.actionToken is missing, expected where to find the Action Request Token',
      hint: 'A step of this job sets the status of a campaign, which the Data Request Token does not allow. Write actionToken: { env: NAME }.',
    },
  ];
}

function checkDefaultSubAccount(job: unknown): Finding[] {
  const account = valueAt(job, ['service', 'account']);
  if (typeof account !== 'string' || valueAt(job, ['service', 'subAccountId']) !== undefined) return [];
  if (SUB_ACCOUNT_ID.test(`${account}${DEFAULT_SUB_ACCOUNT_SUFFIX}`)) return [];
  return [
    {
      at: ['service', 'account'],
      message: `service.account with ${DEFAULT_SUB_ACCOUNT_SUFFIX} is not a subaccount, expected 3 to 50 of A-Z a-z 0-9 - . _ &`,
      hint: 'Write subAccountId as the dashboard shows it.',
    },
  ];
}
