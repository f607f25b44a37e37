import type { Area } from '../domain/areas.js';
import type { ServiceAddresses, ServiceSettings } from '../job/job.js';
import type { Clock } from '../ports/clock.js';
import type { Answer, Response } from './answer.js';
import type { Authorize } from './authorize.js';
import { describeBadAnswer, describeCallFailure } from './call-failure.js';
import { type Decision, decideAnswer, mayBeStray, retryAfterOf, wasTurnedAway } from './decide-answer.js';
import type { CallService, Endpoint } from './endpoint.js';
import type { Call, Transport } from './transport.js';

/** The rate-limited path that a call takes; `throttle/` builds it. */
export interface CallLane {
  run<T>(
    cost: { messages: number; segments: number },
    task: (gate: () => Promise<Call['reportConnectDelay']>) => Promise<T>,
  ): Promise<T>;
  pauseFor(delayMs: number, cause?: { readonly isOwn: boolean }): void;
  slowDown(): void;
  noteSuccess(): void;
}

export interface CallerDeps {
  readonly service: ServiceAddresses & Partial<Pick<ServiceSettings, 'trustUnavailable'>>;
  readonly transport: Transport;
  /** The headers that authenticate a call. */
  readonly authorize: Authorize;
  readonly laneOf: (area: Area) => CallLane;
  /** What a call takes of the limits on messages and on SMS parts; nothing where it is not given. */
  readonly costOf?: (endpoint: Endpoint<never, unknown>, input: unknown) => { messages: number; segments: number };
  readonly clock: Clock;
  /** How long a call keeps trying while the service is unreachable or refuses it. */
  readonly giveUpAfterMs: number;
  /** Cancels calls in flight; their outcome is then unknown. */
  readonly signal?: AbortSignal | undefined;
  /** After each answer that makes a lane pause before the call is sent again, or that turned the call away. */
  readonly onPause?: (answer: Answer, delayMs: number) => void;
}

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
const NO_MESSAGES = { messages: 0, segments: 0 };

/** Retries only what was not processed, or may be repeated, until `giveUpAfterMs` has passed. */
export function createCaller(deps: CallerDeps): CallService {
  return async (endpoint, input) => {
    const lane = deps.laneOf(endpoint.area);
    const wire = endpoint.request(deps.service, input);
    const { method } = wire;
    const { area, isRepeatable } = endpoint;
    const cost = deps.costOf?.(endpoint, input) ?? NO_MESSAGES;
    const call = {
      ...wire,
      area,
      headers: { ...wire.headers, ...deps.authorize(area, method) },
      hasOwnConnection: !isRepeatable,
    };
    const untilMs = deps.clock.monotonicMs() + deps.giveUpAfterMs;
    let mayHaveBeenDone = false;
    for (let backoffMs = FIRST_BACKOFF_MS; ; backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)) {
      const answer = await lane.run(cost, async (gate) => {
        const reportConnectDelay = await gate();
        return deps.transport.send({ ...call, reportConnectDelay }, deps.signal);
      });
      const { trustUnavailable } = deps.service;
      const decision = decideAnswer(answer, { area, isRepeatable, trustUnavailable, nowMs: deps.clock.now() });
      if (decision.kind === 'read') {
        lane.noteSuccess();
        return readOrThrow(endpoint, input, answer as Response, deps.transport);
      }
      dropStrays(deps.transport, answer, decision);
      mayHaveBeenDone ||= decision.kind === 'again' && decision.mayHaveBeenProcessed;
      const pauseMs = retryAfterOf(decision) ?? backoffMs;
      const isInTime = deps.clock.monotonicMs() + pauseMs < untilMs && deps.signal?.aborted !== true;
      const isOver = !isInTime || !RETRIED.has(decision.kind);
      const isTurnedAway = wasTurnedAway(decision);
      if (isTurnedAway) lane.slowDown();
      // Pause the lane even when this call gives up, so that the next one does not come too early.
      if (isTurnedAway || !isOver) {
        deps.onPause?.(answer, pauseMs);
        lane.pauseFor(pauseMs, { isOwn: !isTurnedAway });
      }
      if (isOver) throw describeCallFailure({ endpoint, method, decision, answer, mayHaveBeenDone });
    }
  };
}

function dropStrays(transport: Transport, answer: Answer, decision: Decision): void {
  if (mayBeStray(answer, decision)) transport.dropConnections?.();
}

const RETRIED: ReadonlySet<Decision['kind']> = new Set(['wait', 'again']);

function readOrThrow<Input, Output>(
  endpoint: Endpoint<Input, Output>,
  input: Input,
  answer: Response,
  transport: Transport,
): Output {
  const output = endpoint.read(answer, input);
  if (output !== undefined) return output;
  transport.dropConnections?.();
  throw describeBadAnswer(endpoint, answer);
}
