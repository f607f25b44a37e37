import { type Area, isRowKind, KINDS, ROW_KINDS } from '../domain/areas.js';
import { REGIONAL_AREAS } from '../domain/service-facts.js';
import { DEFAULT_SUB_ACCOUNT_SUFFIX, JOB_NAME, SUB_ACCOUNT_ID } from './defaults.js';
import { type Finding, isMapping, type Path, valueAt } from './explain/finding.js';
import type { Step } from './job.js';
import { ceilings } from './limits.js';
import { DOCUMENTED_ADDRESS, isOfBellCanada } from './platforms.js';

/**
 * Rules across the parts of a job: its service, its limits, its guards and its steps. They take the value as read, of any shape, so that
 * what they find appears beside what the schema does, whatever else is at fault. Rules of one step or one part are refinements of its schema.
 */
export function findBrokenRules(job: unknown): Finding[] {
  return [...requireAccess(job), ...checkCost(job), ...checkSharedLimits(job), ...requireRows(job), ...checkTest(job)];
}

/** A limit of the cost needs prices. */
function checkCost(job: unknown): Finding[] {
  if (!isMapping(job) || !isMapping(job.guards) || job.guards.maxCost === undefined || job.prices !== undefined)
    return [];
  const message = 'guards.maxCost needs the prices of messages, expected prices: { file, currency }';
  return [{ at: ['guards', 'maxCost'], message, hint: 'Name a price list: jobs/reference/job-file.md, "Prices".' }];
}

const LIMIT_KEYS = ['requestsPerSecond', 'messagesPerSecond', 'segmentsPerSecond', 'concurrency'] as const;

/**
 * A limit at the top holds for every step with rows that has none of its own, so it is checked against the lowest of
 * their ceilings.
 */
function checkSharedLimits(job: unknown): Finding[] {
  const shared = valueAt(job, ['limits']);
  if (!isMapping(shared)) return [];
  const steps = listSteps(job).filter(({ kind }) => isRowKind(kind));
  return LIMIT_KEYS.flatMap((key) => {
    const limit = shared[key];
    const [lowest] = steps
      .filter(({ step }) => valueAt(step, ['limits', key]) === undefined)
      .map(({ kind }) => ({ kind, ceiling: ceilings[KINDS[kind].area][key] ?? Number.POSITIVE_INFINITY }))
      .toSorted((a, b) => a.ceiling - b.ceiling);
    if (typeof limit !== 'number' || lowest === undefined || limit <= lowest.ceiling) return [];
    return [
      {
        at: ['limits', key],
        message: `limits.${key} is ${limit}, expected at most ${lowest.ceiling} for a step of kind ${lowest.kind}`,
        hint: 'Lower it, or give the step limits of its own.',
      },
    ];
  });
}

/** A job is for bulk: what has no rows needs no plan, journal and results. */
function requireRows(job: unknown): Finding[] {
  const steps = listSteps(job);
  const written = isMapping(job) && Array.isArray(job.steps) ? job.steps.length : 0;
  // A step of an unknown kind may have been meant as one with rows.
  if (steps.length === 0 || steps.length < written || steps.some(({ kind }) => isRowKind(kind))) {
    return [];
  }
  return [
    {
      at: ['steps'],
      message: `steps has no step with rows, expected at least one of kind ${Object.keys(ROW_KINDS).join(', ')}`,
      hint: 'For a single call use volley campaign set or volley chat post.',
    },
  ];
}

/** Only messages of sms steps can be tested: without one, nothing of the job could ever be sent. */
function checkTest(job: unknown): Finding[] {
  if (!isMapping(job) || !isMapping(job.guards) || job.guards.requireTest !== true) return [];
  const steps = listSteps(job);
  if (steps.length === 0 || steps.some(({ kind }) => kind === 'sms')) return [];
  const message = 'guards.requireTest needs messages to test, expected a step of kind sms';
  return [{ at: ['guards', 'requireTest'], message, hint: 'Remove the guard: steps of other kinds have no test.' }];
}

/** Without the sandbox a job needs, for each area that its steps use, the address and the credentials; and the account, which some addresses hold. */
function requireAccess(job: unknown): Finding[] {
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

/** A step as read: a map of a known kind, otherwise unchecked. */
interface WrittenStep {
  readonly kind: Step['kind'];
  readonly step: Readonly<Record<string, unknown>>;
  readonly at: Path;
}

/** The steps of a job of any shape, without entries that are not steps. */
function listSteps(job: unknown): WrittenStep[] {
  const steps = valueAt(job, ['steps']);
  if (!Array.isArray(steps)) return [];
  return steps.flatMap((step: unknown, index) =>
    isMapping(step) && isKind(step.kind) ? [{ kind: step.kind, step, at: ['steps', index] }] : [],
  );
}

function isKind(kind: unknown): kind is Step['kind'] {
  return typeof kind === 'string' && Object.hasOwn(KINDS, kind);
}

const EXPECTED_NAME = 'expected up to 64 of a-z 0-9 . _ - that begin with a letter or digit';

/**
 * A job without a name takes that of its file, which must then be valid; an invalid name gets the nearest valid one as
 * a hint.
 */
export function checkName(job: unknown, fileName: string): Finding[] {
  const written = valueAt(job, ['name']);
  if (written === undefined && !JOB_NAME.test(fileName)) {
    const message = `name is missing, and the file's name cannot be used: ${EXPECTED_NAME}`;
    return [{ at: ['name'], message, hint: `Write name: ${suggestName(fileName)}.` }];
  }
  if (typeof written === 'string' && written !== '' && !JOB_NAME.test(written)) {
    const message = `name cannot be the name of a directory, ${EXPECTED_NAME}`;
    return [{ at: ['name'], message, hint: `Write name: ${suggestName(written)}.` }];
  }
  return [];
}

/** The nearest valid name for a job. */
export function suggestName(text: string): string {
  const name = text
    .slice(0, 64)
    .normalize('NFD')
    .toLowerCase()
    .replace(/\p{Mn}/gu, '')
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  return name === '' ? 'spring-sale' : name;
}
