import { assertSafeEnvironment } from '../command/open-service.js';
import type { Area } from '../domain/areas.js';
import { systemClock } from '../ports/clock.js';
import { createClients, type ServiceClients } from '../service/clients.js';
import { listSecrets, scrubAnswers } from '../service/service-secrets.js';
import { createTransport } from '../service/transport.js';
import { createLane, type Lane } from '../throttle/lane.js';
import { createLibraryCall } from './call.js';
import { maskThrown, maskThrownBy } from './mask-thrown.js';
import { createHost } from './program-host.js';
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
  assertSafeEnvironment(createHost({}));
  const { settings, secrets, limits } = maskThrownBy(() => readOptions(options));
  const closing = new AbortController();
  const signal = options.signal === undefined ? closing.signal : AbortSignal.any([closing.signal, options.signal]);
  const lanes = new Map<Area, Lane>();
  const laneOf = (area: Area): Lane => {
    const lane =
      lanes.get(area) ?? createLane({ limits: limits[area], clock: systemClock, random: Math.random, signal });
    lanes.set(area, lane);
    return lane;
  };
  const transport = scrubAnswers(createTransport(settings.timeouts), listSecrets(secrets));
  const call = createLibraryCall({ settings, secrets, transport, laneOf, clock: systemClock, signal: options.signal });
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
