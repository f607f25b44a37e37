import type { z } from 'zod';
import { type Area, isRowKind, KINDS, type Kind, ROW_KINDS } from '../domain/areas.js';
import { isObject } from '../domain/is-object.js';
import { REGIONAL_AREAS } from '../domain/service-facts.js';
import { parseMinutes } from '../hours/window.js';
import { valueAt } from './explain/finding.js';
import { ceilings } from './limits.js';
import {
  DEFAULT_ANSWER_SECONDS,
  DEFAULT_SUB_ACCOUNT_SUFFIX,
  DOCUMENTED_ADDRESS,
  isOfBellCanada,
  SUB_ACCOUNT_EXPECTED,
  SUB_ACCOUNT_ID,
} from './schema/service.js';
import { withHint } from './schema/words.js';

/**
 * Rules across the parts of a job: its service, its limits, its guards and its steps. They run whatever else is at fault, so that
 * what they find appears beside it, and take a job of any shape. Rules of one step or one part are refinements of its schema.
 */
export function checkJob(job: unknown, context: z.core.$RefinementCtx): void {
  const steps = listSteps(job);
  const at = (path: string) => valueAt(job, path.split('.'));
  for (const [path, so, hint] of [
    ...checkSteps(at, steps),
    ...checkTimes(at),
    ...checkLimits(at, steps),
    ...checkWindows(at, steps),
    ...checkAccess(at, steps),
  ]) {
    const parts = path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
    context.addIssue({ code: 'custom', path: parts, message: withHint(so, hint) });
  }
}

/** What stands at a dotted path of the job. */
type At = (path: string) => unknown;
/** A step as read: a map of a known kind, otherwise unchecked. */
type KnownStep = Readonly<Record<string, unknown>> & { readonly kind: Kind };
type Broken = readonly [path: string, so: string, hint: string];

function listSteps(job: unknown): KnownStep[] {
  const steps = valueAt(job, ['steps']);
  const isKnown = (step: unknown): step is KnownStep =>
    isObject(step) && typeof step.kind === 'string' && Object.hasOwn(KINDS, step.kind);
  return Array.isArray(steps) ? steps.filter(isKnown) : [];
}

function* checkSteps(at: At, steps: readonly KnownStep[]): Generator<Broken> {
  if (at('guards.maxCost') !== undefined && at('prices') === undefined) {
    const so = 'needs the prices of messages, expected prices: { file, currency }';
    yield ['guards.maxCost', so, 'Name a price list: jobs/reference/job-file.md, "Prices".'];
  }
  const [approvals, approvers] = [at('guards.requireApproval'), at('approvers')];
  if (approvers !== undefined && approvals === undefined) {
    const so = 'approve nothing yet, expected guards: { requireApproval: 1 }';
    yield ['approvers', so, 'Say how many of them must approve a plan.'];
  }
  if (typeof approvals === 'number' && Array.isArray(approvers) && approvers.length < approvals) {
    const so = `expected at most ${approvers.length}, as many as there are approvers`;
    yield ['guards.requireApproval', so, 'Name more approvers, or ask for fewer.'];
  }
  // A step of an unknown kind may have been meant as one with rows.
  const written = at('steps');
  if (steps.length === 0 || !Array.isArray(written)) return;
  if (steps.length === written.length && !steps.some(({ kind }) => isRowKind(kind))) {
    const so = `has no step with rows, expected at least one of kind ${Object.keys(ROW_KINDS).join(', ')}`;
    yield ['steps', so, 'For a single call use volley campaign set or volley chat post.'];
  }
  // Without one, nothing of the job could ever be sent.
  if (at('guards.requireTest') === true && !steps.some(({ kind }) => kind === 'sms')) {
    const so = 'needs messages to test, expected a step of kind sms';
    yield ['guards.requireTest', so, 'Remove the guard: steps of other kinds have no test.'];
  }
}

function* checkTimes(at: At): Generator<Broken> {
  const [from, until] = [momentOf(at('notBefore')), momentOf(at('notAfter'))];
  if (!(from >= until)) return;
  const so = 'lies no later than notBefore, expected a time after it';
  yield ['notAfter', so, 'Between them the job may send: with these times it never would.'];
}

/** NaN for what is no time with its offset. */
function momentOf(time: unknown): number {
  const at = isObject(time) && typeof time.at === 'string' ? time.at : '';
  return /^\d{4}-.*(?:Z|[+-]\d\d:\d\d)$/.test(at) ? Date.parse(at) : Number.NaN;
}

/** A limit at the top holds for every step with rows that has none of its own: it is checked against the lowest of their ceilings. */
function* checkLimits(at: At, steps: readonly KnownStep[]): Generator<Broken> {
  for (const key of ['requestsPerSecond', 'messagesPerSecond', 'segmentsPerSecond', 'concurrency'] as const) {
    const limit = at(`limits.${key}`);
    const [lowest] = steps
      .filter((step) => isRowKind(step.kind) && valueAt(step, ['limits', key]) === undefined)
      .map(({ kind }) => ({ kind, ceiling: ceilings[KINDS[kind].area][key] ?? Number.POSITIVE_INFINITY }))
      .toSorted((a, b) => a.ceiling - b.ceiling);
    if (typeof limit !== 'number' || lowest === undefined || limit <= lowest.ceiling) continue;
    const so = `expected at most ${lowest.ceiling} for a step of kind ${lowest.kind}`;
    yield [`limits.${key}`, so, 'Lower it, or give the step limits of its own.'];
  }
}

/** A window at the top holds for every step of kind sms that has none of its own. */
function* checkWindows(at: At, steps: readonly KnownStep[]): Generator<Broken> {
  const ofJob = at('window');
  const written = at('steps');
  if (ofJob !== undefined && steps.length > 0 && !steps.some(({ kind }) => kind === 'sms')) {
    yield ['window', 'has no messages to hold back, expected a step of kind sms', 'Remove it.'];
  }
  yield* checkLength(at, 'window');
  for (const [index, step] of Array.isArray(written) ? written.entries() : []) {
    yield* checkLength(at, `steps.${index}.window`);
    const isSent = valueAt(step, ['template', 'scheduled']) === undefined;
    if (isSent || valueAt(step, ['kind']) !== 'sms') continue;
    if (valueAt(step, ['ramp']) !== undefined) {
      const so = 'lets the service hold the messages, of which a ramp is to see how they go, expected one of them';
      yield [`steps.${index}.template.scheduled`, so, 'Remove it, and run the job at that time: notBefore says when.'];
    }
    if ((valueAt(step, ['window']) ?? ofJob) === undefined) continue;
    const so = 'is a second way to say when messages leave, beside a window, expected one of them';
    yield [`steps.${index}.template.scheduled`, so, 'Remove it: with a window, Volley sends while it is open.'];
  }
  const hasWindow = ofJob !== undefined || steps.some(({ window }) => window !== undefined);
  const hasRamp = steps.some(({ ramp }) => ramp !== undefined);
  if ((hasWindow || hasRamp) && isObject(at('cluster')) && at('cluster.share') !== 'lane') {
    const what = hasWindow ? 'window' : 'ramp';
    const so = `hands requests to workers, which know no ${what}, expected share: lane, or no ${what}`;
    yield ['cluster', so, 'Write share: lane, with which this process alone sends.'];
  }
}

/** Messages leave with room for their answer: a window that has none never opens. */
function* checkLength(at: At, path: string): Generator<Broken> {
  const [from, to] = [at(`${path}.from`), at(`${path}.to`)].map((time) => parseMinutes(String(time)) ?? Number.NaN);
  const answerSeconds = Number(at('service.timeouts.answerSeconds') ?? DEFAULT_ANSWER_SECONDS);
  const seconds = ((to ?? 0) - (from ?? 0)) * 60;
  if (!(seconds > 0 && seconds <= answerSeconds)) return;
  const so = `leaves ${seconds} s, expected more than an answer may take (service.timeouts.answerSeconds), ${answerSeconds} s`;
  yield [`${path}.to`, so, 'Widen the window: nothing leaves whose answer may come after it.'];
}

/** The contract has the account, or a subaccount of it, in the addresses of these areas only; one key serves them all. */
const ACCOUNT_AREAS: readonly Area[] = REGIONAL_AREAS;

/** Without the sandbox a job needs, for each area that its steps use, the address and the credentials; and the account, which some addresses hold. */
function* checkAccess(at: At, steps: readonly KnownStep[]): Generator<Broken> {
  yield* checkDefaultSubAccount(at);
  const written = at('steps');
  // A job without steps is read for its service only.
  const isWithoutSteps = Array.isArray(written) && written.length === 0;
  if (!isObject(at('service')) || at('service.sandbox') === true || isWithoutSteps) return;
  const areas = [...new Set(steps.map(({ kind }) => KINDS[kind].area))];
  yield* checkAccount(at, areas);
  yield* checkCredentials(at, areas);
  const sets = steps.some(({ kind, set }) => kind === 'campaign' && set !== undefined);
  const tokens = at('service.credentials.campaign');
  if (sets && isObject(tokens) && tokens.actionToken === undefined) {
    const why = 'A step of this job sets the status of a campaign, which the Data Request Token does not allow.';
    const so = 'expected where to find the Action Request Token';
    yield ['service.credentials.campaign.actionToken', so, `${why} Write actionToken: { env: NAME }.`];
  }
}

function* checkDefaultSubAccount(at: At): Generator<Broken> {
  const account = at('service.account');
  if (typeof account !== 'string' || at('service.subAccountId') !== undefined) return;
  if (SUB_ACCOUNT_ID.test(`${account}${DEFAULT_SUB_ACCOUNT_SUFFIX}`)) return;
  const so = `with ${DEFAULT_SUB_ACCOUNT_SUFFIX} is not a subaccount, ${SUB_ACCOUNT_EXPECTED}`;
  yield ['service.account', so, 'Write subAccountId as the dashboard shows it.'];
}

function* checkAccount(at: At, areas: readonly Area[]): Generator<Broken> {
  const isNeeded = areas.length === 0 || areas.some((area) => ACCOUNT_AREAS.includes(area));
  if (isNeeded && at('service.account') === undefined) {
    const hint = 'Write account: <identifier>, or sandbox: true to try the job without an account.';
    yield ['service.account', "expected the account's identifier", hint];
  }
  if (at('service.bases.campaign') !== undefined) return;
  const platform = at('service.ccPlatform');
  if (platform === undefined && areas.includes('campaign')) {
    const so = 'expected the platform of the contact center, such as na12';
    const address = 'as it stands in the address https://vcc-<platform>.8x8.com, or bases: { campaign: https://… }';
    yield ['service.ccPlatform', so, `A step of this job uses campaign. Write ccPlatform: <platform> ${address}.`];
  }
  // Whatever the steps are: only campaigns use a platform.
  if (typeof platform === 'string' && isOfBellCanada(platform)) {
    const so = `expected the address of the contact center: ${platform} is a platform of Bell Canada, whose addresses differ`;
    const address = `as it stands in the address of your contact center; ${DOCUMENTED_ADDRESS}`;
    yield ['service.bases.campaign', so, `Write bases: { campaign: https://… } ${address}.`];
  }
}

function* checkCredentials(at: At, areas: readonly Area[]): Generator<Broken> {
  const credentials = at('service.credentials');
  if (credentials === undefined) {
    const isKeyEnough = areas.every((area) => ACCOUNT_AREAS.includes(area));
    const examples = new Set(areas.length === 0 ? [SHARED_EXAMPLE] : areas.map((area) => EXAMPLES[area]));
    yield [
      'service.credentials',
      `expected where to find ${isKeyEnough ? 'the API key' : `those of ${areas.join(', ')}`}`,
      `Write credentials: { ${[...examples].join(', ')} }, or sandbox: true to try the job without any.`,
    ];
  }
  if (!isObject(credentials)) return;
  const shared = ACCOUNT_AREAS.join(', ');
  for (const area of areas.filter((each) => credentials[each] === undefined)) {
    const isShared = ACCOUNT_AREAS.includes(area);
    if (isShared && credentials.apiKey !== undefined) continue;
    const why = credentials.apiKey === undefined ? '' : ` apiKey is the key of ${shared} only.`;
    const form = isShared
      ? `apiKey: { env: NAME } for ${shared}, or ${area}: { apiKey: { env: NAME } }`
      : EXAMPLES[area];
    yield [
      `service.credentials.${area}`,
      `expected where to find its ${area === 'campaign' ? 'tokens' : 'key'}`,
      `A step of this job uses ${area}.${why} Write ${form}.`,
    ];
  }
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
