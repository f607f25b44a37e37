import { z } from 'zod';
import { assertSafeEnvironment } from '../command/open-service.js';
import { type Area, byArea } from '../domain/areas.js';
import { UserError } from '../domain/errors.js';
import { omitUndefined, remember } from '../domain/is-object.js';
import type { Region } from '../domain/service-facts.js';
import type { JobService, Timeouts } from '../job/job.js';
import { defaultLimitsOfArea, type Limits, rowLimits, smsLimits } from '../job/limits.js';
import { resolveService } from '../job/resolve-job.js';
import { DOCUMENTED_ADDRESS, SUB_ACCOUNT_ID, tokenUser, writtenService } from '../job/schema/service.js';
import { type Clock, systemClock } from '../ports/clock.js';
import { type SmsBatch, sendBatch } from '../service/areas/sms.js';
import { type CallLane, createCaller } from '../service/caller.js';
import { createClients, type ServiceClients } from '../service/clients.js';
import type { CallService, Endpoint } from '../service/endpoint.js';
import {
  type Authorize,
  createAuthorize,
  listSecrets,
  type ServiceSecrets,
  scrubAnswers,
} from '../service/service-secrets.js';
import { createTransport, type Transport } from '../service/transport.js';
import { countSegments } from '../template/segments.js';
import { LaneStopped } from '../throttle/gate.js';
import { createLane, type Lane } from '../throttle/lane.js';
import { checkOptions, followSignal, maskThrown, maskThrownBy, refuseOptions, signalOption } from './program-host.js';

/** The typed clients of the six areas. All calls of an area share one lane, which keeps to its limits. */
export interface Service extends ServiceClients {
  /** Sends nothing more, waits for what is in flight, and closes the connections; queued calls reject. */
  close(): Promise<void>;
}

/**
 * The service as typed functions. Opens no connection before the first call; a program calls `close` at its end.
 * Throws a UserError for options that make no sense. Every call rejects with a ServiceError whose `code` says whether it
 * was refused, not done, or is in doubt, or with a UserError where nothing was sent at all.
 */
export function createService(options: ServiceOptions): Service {
  assertSafeEnvironment(process);
  const { settings, secrets, limits, signal: abandoned } = maskThrownBy(() => readOptions(options));
  const closing = new AbortController();
  const signal = abandoned === undefined ? closing.signal : AbortSignal.any([closing.signal, abandoned]);
  const lanes = new Map<Area, Lane>();
  const ports = { clock: systemClock, random: Math.random, signal };
  const laneOf = (area: Area) => remember(lanes, area, () => createLane({ limits: limits[area], ...ports }));
  const transport = scrubAnswers(createTransport(settings.timeouts), listSecrets(secrets));
  const call = createLibraryCall({ settings, secrets, transport, laneOf, clock: systemClock, signal: abandoned });
  const close = async () => {
    closing.abort();
    await Promise.all([...lanes.values()].map((lane) => lane.close()));
    await transport.close();
  };
  let closed: Promise<void> | undefined;
  return {
    ...createClients((endpoint, input) => maskThrown(() => call(endpoint, input))),
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

/** Sends a library call on the lane of its area, at its cost there. */
export function createLibraryCall(deps: {
  settings: JobService;
  secrets: ServiceSecrets;
  transport: Transport;
  laneOf: (area: Area) => CallLane;
  clock: Clock;
  signal: AbortSignal | undefined;
}): CallService {
  const { settings, secrets, ...ports } = deps;
  const authorize = requireSecrets(createAuthorize(secrets));
  const giveUpAfterMs = settings.giveUpAfterSeconds * 1000;
  const call = createCaller({ ...ports, service: settings, authorize, costOf: costOfCall, giveUpAfterMs });
  return async (endpoint, input) => {
    assertCallable(endpoint, input, settings);
    try {
      return await call(endpoint, input);
    } catch (error) {
      if (!(error instanceof LaneStopped)) throw error;
      const so = 'the service was closed, or its signal aborted, before its turn';
      const hint = 'It is safe to repeat the call with another service.';
      throw new UserError('interrupted', `Cannot ${endpoint.name}: ${so}`, { hint });
    }
  };
}

function assertCallable(
  { name, area }: Endpoint<never, unknown>,
  input: unknown,
  { bases }: Pick<JobService, 'bases'>,
): void {
  if (typeof input !== 'object' || input === null) {
    throw new UserError('bad-input', `Cannot ${name}: the call has no input, expected an object`);
  }
  if (bases[area] === '') {
    throw new UserError('bad-input', `Cannot ${name}: there is no address for ${area}, expected ccPlatform`, {
      hint: `Give createService ccPlatform, or bases: { ${area}: 'https://…' }.`,
    });
  }
}

/** Refuses a call without credentials before it is sent, as the service would. */
function requireSecrets(authorize: Authorize): Authorize {
  return (area, method) => {
    const headers = authorize(area, method);
    if (Object.keys(headers).length > 0) return headers;
    const what = area === 'campaign' ? (method === 'GET' ? 'dataToken' : 'actionToken') : 'key';
    throw new UserError('bad-credentials', `Cannot call ${area}: its ${what} is missing`, {
      hint: `Give createService credentials: { ${area}: … }.`,
    });
  };
}

/** What a call takes of its lane's limits on messages and on their parts; only an SMS batch has any. */
function costOfCall(endpoint: Endpoint<never, unknown>, input: unknown): { messages: number; segments: number } {
  if (!Object.is(endpoint, sendBatch)) return { messages: 0, segments: 0 };
  const { messages, template } = input as SmsBatch;
  let segments = 0;
  for (const message of messages) {
    const text = message.text ?? template?.text ?? '';
    segments += countSegments(text, message.encoding ?? template?.encoding ?? 'AUTO').segments;
  }
  return { messages: messages.length, segments };
}

/** Which service, which account, how fast; keys as in a job's `service`. */
export interface ServiceOptions {
  readonly region?: Region | undefined;
  /** Addresses that override those of the region: https, or http to this machine. */
  readonly bases?: Partial<Readonly<Record<Area, string>>> | undefined;
  /** Forms the address of `campaign`, such as na12. */
  readonly ccPlatform?: string | undefined;
  readonly account: string;
  /** UUID of the account, in addresses of contacts; defaults to `account`. */
  readonly accountId?: string | undefined;
  /** The tenant of the contact center, for `gateway`; needed if the organisation has several. */
  readonly tenant?: string | undefined;
  /** Defaults to `<account>_hq`. */
  readonly subAccountId?: string | undefined;
  readonly credentials: CredentialOptions;
  /** Limits of the lane that all calls of an area share; below the ceilings of the area. */
  readonly limits?: Partial<Readonly<Record<Area, LimitOptions>>> | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
  /** How long a call keeps trying while the service is unreachable or refuses it; defaults to 900. */
  readonly giveUpAfterSeconds?: number | undefined;
  /** Treats every HTTP 503 as not processed; by default only one with the service's own error body. */
  readonly trustUnavailable?: boolean | undefined;
  /** Once it aborts, nothing more is sent, and what is in flight rejects as `in-doubt`. */
  readonly signal?: AbortSignal | undefined;
}

/** The secrets themselves: kept in memory, never in an error. */
export interface CredentialOptions extends ServiceSecrets {
  /** Default for sms, contacts and verification. */
  readonly apiKey?: string | undefined;
}

/** Messages and segments are counted for sms alone. */
export type LimitOptions = { readonly [Key in keyof Limits]?: Limits[Key] | undefined };

const DOING = 'create the service';
/** Longer than any key. */
const SECRET = /^[\x21-\x7e]{1,8192}$/;
const secret = () => z.string().regex(SECRET, 'expected only the secret: one line of ASCII without spaces');

const schema = writtenService
  .omit({ sandbox: true, dlrCallbackUrl: true })
  .extend({
    account: writtenService.shape.account.unwrap(),
    signal: signalOption,
    credentials: z.strictObject({
      apiKey: secret().optional(),
      sms: secret().optional(),
      contacts: secret().optional(),
      verification: secret().optional(),
      gateway: secret().optional(),
      chat: secret().optional(),
      campaign: z
        .strictObject({ username: tokenUser(), dataToken: secret().optional(), actionToken: secret().optional() })
        .optional(),
    }),
    limits: z
      .strictObject({
        sms: smsLimits.optional(),
        contacts: rowLimits('contacts', 'a contact').optional(),
        verification: rowLimits('verification', 'a session').optional(),
        gateway: rowLimits('gateway', 'a conversation').optional(),
        campaign: rowLimits('campaign', 'a change').optional(),
        chat: rowLimits('chat', 'a message').optional(),
      })
      .prefault({}),
  });

/** Checks the options and fills their defaults. Refuses with one UserError 'bad-input' that carries every problem, and no secret. */
export function readOptions(given: ServiceOptions) {
  if (typeof given !== 'object' || given === null) {
    throw refuseOptions(DOING, [
      { where: 'options', message: 'are missing, expected an object with account and credentials' },
    ]);
  }
  const { credentials, limits, signal, ...service } = checkOptions(DOING, schema, given);
  const settings = resolveService({ ...service, sandbox: false }, '.');
  if (service.ccPlatform !== undefined && settings.bases.campaign === '') {
    const message = `expected the address of the contact center, since ${service.ccPlatform} does not determine it`;
    throw refuseOptions(DOING, [{ where: 'bases.campaign', message: `${message}; ${DOCUMENTED_ADDRESS}` }]);
  }
  if (!SUB_ACCOUNT_ID.test(settings.subAccountId)) {
    const message = `expected one of 3 to 50 characters, which ${settings.subAccountId} is not`;
    throw refuseOptions(DOING, [{ where: 'subAccountId', message }]);
  }
  const { apiKey } = credentials;
  return {
    settings,
    signal: followSignal(signal),
    secrets: {
      ...credentials,
      sms: credentials.sms ?? apiKey,
      contacts: credentials.contacts ?? apiKey,
      verification: credentials.verification ?? apiKey,
    } satisfies ServiceSecrets,
    limits: byArea((area) => ({ ...defaultLimitsOfArea[area], ...omitUndefined(limits[area] ?? {}) })),
  };
}
