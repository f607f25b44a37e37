import { envOf, type Host } from '../command/deps.js';
import type { Clock } from '../ports/clock.js';
import type { Transport } from '../service/transport.js';
import type { RunMeter } from './run-meter.js';
import type { SendMeter } from './send-meter.js';

/** The host, with a meter on what is planned and sent. */
export function meterHost(host: Host, meter: RunMeter): Host {
  const runtime = envOf(host);
  const metered: Partial<Host> = {
    observer: meter,
    onPlanned: (progress) => {
      meter.onPlanned(progress);
      host.onPlanned?.(progress);
    },
    onSent: (progress) => {
      meter.onSent(progress);
      host.onSent?.(progress);
    },
    runtime: {
      ...runtime,
      loadLane: async () => {
        const createLane = await runtime.loadLane();
        return (options) => {
          const lane = createLane(options);
          meter.onLane(options, lane);
          return lane;
        };
      },
      loadTransport: async () => {
        const createTransport = await runtime.loadTransport();
        return (timeouts) => meterTransport(createTransport(timeouts), runtime.clock, meter);
      },
    },
  };
  // Not spread: reading its `stdin` would open it.
  return Object.assign(Object.create(host), metered);
}

/** Calls to an address outside of the service, such as that of a hook, do not count. */
export function meterTransport(
  transport: Transport,
  clock: Clock,
  { noteRequest }: Pick<SendMeter, 'noteRequest'>,
): Transport {
  return {
    ...transport,
    send: async (call, signal) => {
      if (call.area === undefined) return transport.send(call, signal);
      const startMs = clock.monotonicMs();
      const end = noteRequest(call.area);
      const answer = await transport.send(call, signal);
      end(answer, (clock.monotonicMs() - startMs) / 1000);
      return answer;
    },
  };
}
