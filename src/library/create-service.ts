import { assertSafeEnvironment } from '../command/open-service.js';
import type { Area } from '../domain/areas.js';
import { UserError } from '../domain/errors.js';
import type { JobService } from '../job/job.js';
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
import { maskThrown, maskThrownBy } from './check-options.js';
import { readOptions, type ServiceOptions } from './service-options.js';

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
  const laneOf = (area: Area): Lane => {
    const lane =
      lanes.get(area) ?? createLane({ limits: limits[area], clock: systemClock, random: Math.random, signal });
    lanes.set(area, lane);
    return lane;
  };
  const transport = scrubAnswers(createTransport(settings.timeouts), listSecrets(secrets));
  const call = createLibraryCall({ settings, secrets, transport, laneOf, clock: systemClock, signal: abandoned });
  const close = async () => {
    closing.abort();
    await Promise.all([...lanes.values()].map((lane) => lane.close()));
    await transport.close();
  };
  let closed: Promise<void> | undefined;
  return {
    ...createClients((endpoint, input) => maskThrown(call(endpoint, input))),
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
  const { settings, transport, laneOf, clock, signal } = deps;
  const authorize = requireSecrets(createAuthorize(deps.secrets));
  const giveUpAfterMs = settings.giveUpAfterSeconds * 1000;
  const call = createCaller({
    service: settings,
    transport,
    authorize,
    laneOf,
    costOf: costOfCall,
    clock,
    giveUpAfterMs,
    signal,
  });
  return async (endpoint, input) => {
    assertCallable(endpoint, input, settings);
    try {
      return await call(endpoint, input);
    } catch (error) {
      if (error instanceof LaneStopped) throw describeStop(endpoint.name);
      throw error;
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

function describeStop(name: string): UserError {
  return new UserError(
    'interrupted',
    `Cannot ${name}: the service was closed, or its signal aborted, before its turn`,
    { hint: 'It is safe to repeat the call with another service.' },
  );
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
