import { addressFields } from '../normalize/contact-fields.js';
import { ceilings } from '../throttle/ceilings.js';
import { DEFAULT_SUB_ACCOUNT_SUFFIX, SUB_ACCOUNT_ID } from './defaults.js';
import { valueAt } from './explain.js';
import { type Finding, isSecret, namePath, type Path } from './finding.js';
import type { Step } from './job.js';

/**
 * What no single key can say: rules over several keys of a job file. They take the value as it was read, of any shape, so that
 * their findings stand beside those of the schema; what is not of the right shape they leave to it.
 */
export function findBrokenRules(job: unknown): Finding[] {
  return [
    ...refuseReferences(job, []),
    ...requireAccess(job),
    ...checkDefaultSubAccount(job),
    ...checkSharedLimits(job),
    ...requireAddresses(job),
  ];
}

const REFERENCE = /\$\{([^}]*)\}?/;

/** `${NAME}` is no language here; in texts for people, where a price may look so, it is left alone. */
function refuseReferences(value: unknown, path: Path): Finding[] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) =>
      refuseReferences(inner, [...path, Array.isArray(value) ? Number(key) : key]),
    );
  }
  if (typeof value !== 'string' || !isAddressOrPath(path)) return [];
  const name = REFERENCE.exec(value)?.[1];
  if (name === undefined) return [];
  const hint = isSecret(path)
    ? `Write { env: ${/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : 'NAME'} } in place of the whole value.`
    : 'Write the value out.';
  return [{ at: path, message: `${namePath(path)} holds \${…}, which a job file does not replace`, hint }];
}

function isAddressOrPath(path: Path): boolean {
  return path[0] === 'service' || path[0] === 'output' || path.includes('files');
}

const AREA_OF: Readonly<Record<Step['kind'], 'contacts' | 'sms'>> = { contacts: 'contacts', sms: 'sms' };

/** Without the sandbox a job needs an account, and a key for each area that its steps use. */
function requireAccess(job: unknown): Finding[] {
  const service = valueAt(job, ['service']);
  if (!isMapping(service) || service.sandbox === true) return [];
  const findings: Finding[] = [];
  if (service.account === undefined) {
    findings.push({
      at: ['service', 'account'],
      message: "service.account is missing, expected the account's identifier",
      hint: 'Write account: <identifier>, or sandbox: true to try the job without an account.',
    });
  }
  const credentials = service.credentials;
  if (credentials === undefined) {
    findings.push({
      at: ['service', 'credentials'],
      message: 'service.credentials is missing, expected where the API key is found',
      hint: 'Write credentials: { apiKey: { env: VOLLEY_API_KEY } }, or sandbox: true to try the job without a key.',
    });
  } else if (isMapping(credentials) && credentials.apiKey === undefined) {
    for (const area of new Set(stepsOf(job).map(({ kind }) => AREA_OF[kind]))) {
      if (credentials[area] !== undefined) continue;
      findings.push({
        at: ['service', 'credentials'],
        message: `service.credentials has no key for ${area}, expected apiKey or ${area}`,
        hint: `A step of this job uses ${area}. Write apiKey: { env: NAME } for every area, or ${area}: { apiKey: { env: NAME } }.`,
      });
    }
  }
  return findings;
}

function checkDefaultSubAccount(job: unknown): Finding[] {
  const account = valueAt(job, ['service', 'account']);
  if (typeof account !== 'string' || valueAt(job, ['service', 'subAccountId']) !== undefined) return [];
  if (SUB_ACCOUNT_ID.test(`${account}${DEFAULT_SUB_ACCOUNT_SUFFIX}`)) return [];
  return [
    {
      at: ['service', 'account'],
      message: `service.account with ${DEFAULT_SUB_ACCOUNT_SUFFIX} is no subaccount, expected 3 to 50 of A-Z a-z 0-9 - . _ &`,
      hint: 'Write subAccountId as the dashboard shows it.',
    },
  ];
}

/** A limit at the top holds for every step that has none of its own, so it is held against the lowest ceiling of those. */
function checkSharedLimits(job: unknown): Finding[] {
  const shared = valueAt(job, ['limits']);
  if (!isMapping(shared)) return [];
  return LIMIT_KEYS.flatMap((key) => {
    const limit = shared[key];
    const [lowest] = stepsOf(job)
      .filter(({ step }) => valueAt(step, ['limits', key]) === undefined)
      .map(({ kind }) => ({ kind, ceiling: ceilings[AREA_OF[kind]][key] ?? Number.POSITIVE_INFINITY }))
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

const LIMIT_KEYS = ['requestsPerSecond', 'messagesPerSecond', 'segmentsPerSecond', 'concurrency'] as const;

function requireAddresses(job: unknown): Finding[] {
  return stepsOf(job).flatMap(({ step, kind, index }) => {
    const fields = step.fields;
    if (kind !== 'contacts' || !isMapping(fields) || addressFields.some((field) => field in fields)) return [];
    const at = ['steps', index, 'fields'];
    return [
      {
        at,
        message: `${namePath(at)} names no address, expected at least one of ${addressFields.join(', ')}`,
        hint: 'The service takes no contact without an address. Write, for example, msisdn: mobile.',
      },
    ];
  });
}

function stepsOf(job: unknown): { step: Record<string, unknown>; kind: Step['kind']; index: number }[] {
  const steps = valueAt(job, ['steps']);
  if (!Array.isArray(steps)) return [];
  return steps.flatMap((step: unknown, index) =>
    isMapping(step) && (step.kind === 'contacts' || step.kind === 'sms') ? [{ step, kind: step.kind, index }] : [],
  );
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
