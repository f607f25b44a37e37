import type { Area } from '../domain/areas.js';
import { ServiceError, type ServiceErrorCode, type StopFault } from '../domain/errors.js';
import type { JobService, ServiceAddresses } from '../job/job.js';
import type { Clock } from '../ports/clock.js';
import { type Answer, isKeyFault, isOwnError, type Response, readErrorBody } from './answer.js';
import {
  type Decision,
  decideAnswer,
  describeWrongKey,
  mayBeStray,
  retryAfterOf,
  wasTurnedAway,
} from './decide-answer.js';
import type { CallService, Endpoint, WireRequest } from './endpoint.js';
import type { Authorize } from './service-secrets.js';
import type { Call, Transport } from './transport.js';

/** The rate-limited path that a call takes; `throttle/` builds it. */
export interface CallLane {
  run<T>(
    cost: { messages: number; segments: number },
    task: (gate: (preSendCheck?: () => Promise<void>) => Promise<Call['reportConnectDelay']>) => Promise<T>,
  ): Promise<T>;
  pauseFor(delayMs: number, cause?: { readonly isOwn: boolean }): void;
  slowDown(): void;
  noteSuccess(): void;
  readonly pausedMs?: number | undefined;
}

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
const NO_MESSAGES = { messages: 0, segments: 0 };

/** Retries only what was not processed, or may be repeated, until `giveUpAfterMs` has passed. */
export function createCaller(deps: {
  readonly service: ServiceAddresses & Partial<Pick<JobService, 'trustUnavailable'>>;
  readonly transport: Transport;
  /** The headers that authenticate a call. */
  readonly authorize: Authorize;
  readonly laneOf: (area: Area) => CallLane;
  /** Is called at the turn of each call; if it rejects, nothing leaves. */
  readonly preSendCheck?: () => Promise<void>;
  /** What a call takes of the limits on messages and on SMS parts; nothing where it is not given. */
  readonly costOf?: (endpoint: Endpoint<never, unknown>, input: unknown) => { messages: number; segments: number };
  readonly clock: Clock;
  /** How long a call keeps trying while the service is unreachable or refuses it. */
  readonly giveUpAfterMs: number;
  /** Cancels calls in flight; their outcome is then unknown. */
  readonly signal?: AbortSignal | undefined;
  /** Is called after each answer that makes a lane pause before the call is sent again; `isTurnedAway`: it asks for a lower rate. */
  readonly onPause?: (answer: Answer, delayMs: number, isTurnedAway: boolean) => void;
}): CallService {
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
    assertNoLongPause(endpoint.name, lane, deps.giveUpAfterMs);
    let mayHaveBeenDone = false;
    for (let backoffMs = FIRST_BACKOFF_MS; ; backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)) {
      const answer = await lane.run(cost, async (gate) => {
        const reportConnectDelay = await gate(deps.preSendCheck);
        return deps.transport.send({ ...call, reportConnectDelay }, deps.signal);
      });
      const { trustUnavailable } = deps.service;
      const decision = decideAnswer(answer, { area, isRepeatable, trustUnavailable, nowMs: deps.clock.now() });
      if (decision.kind === 'read') {
        lane.noteSuccess();
        return readOrThrow(endpoint, { input, method }, answer as Response, deps.transport);
      }
      dropStrays(deps.transport, answer, decision);
      mayHaveBeenDone ||= decision.kind === 'again' && decision.mayHaveBeenProcessed;
      const pauseMs = retryAfterOf(decision) ?? backoffMs;
      const isInTime = deps.clock.monotonicMs() + pauseMs < untilMs && deps.signal?.aborted !== true;
      const isOver = !isInTime || !RETRIED.has(decision.kind);
      const isTurnedAway = wasTurnedAway(decision);
      if (isTurnedAway) lane.slowDown();
      // Pause the lane even when this call gives up, so that the next one does not come too early.
      if (isTurnedAway || !isOver) lane.pauseFor(pauseMs, { isOwn: !isTurnedAway });
      if (isOver) throw describeCallFailure({ endpoint, method, decision, answer, mayHaveBeenDone });
      deps.onPause?.(answer, pauseMs, isTurnedAway);
    }
  };
}

/** What the call before was answered may name any time. */
function assertNoLongPause(name: string, { pausedMs = 0 }: CallLane, giveUpAfterMs: number): void {
  if (pausedMs <= giveUpAfterMs) return;
  const message = `Cannot ${name}: the service has asked to come back in ${Math.ceil(pausedMs / 1000)} s`;
  throw new ServiceError('unavailable', message, { hint: NOT_DONE });
}

function dropStrays(transport: Transport, answer: Answer, decision: Decision): void {
  if (mayBeStray(answer, decision)) transport.dropConnections?.();
}

const RETRIED: ReadonlySet<Decision['kind']> = new Set(['wait', 'again']);

function readOrThrow<Input, Output>(
  endpoint: Endpoint<Input, Output>,
  { input, method }: { input: Input; method: WireRequest['method'] },
  answer: Response,
  transport: Transport,
): Output {
  const output = endpoint.read(answer, input);
  if (output !== undefined) return output;
  transport.dropConnections?.();
  throw describeBadAnswer(endpoint, method, answer);
}

interface FailedCall {
  readonly endpoint: Endpoint<never, unknown>;
  readonly method: WireRequest['method'];
  readonly decision: Exclude<Decision, { kind: 'read' }>;
  readonly answer: Answer;
  /** Whether its last attempt, or one before it, may have been processed. */
  readonly mayHaveBeenDone: boolean;
}

function describeCallFailure({ endpoint, method, decision, answer, mayHaveBeenDone }: FailedCall): ServiceError {
  const { name, isRepeatable } = endpoint;
  const fail = (code: ServiceErrorCode, said: string, hint: string) =>
    describe(code, `Cannot ${name}: ${said}`, { hint, answer, ...('fault' in decision && { fault: decision.fault }) });
  switch (decision.kind) {
    case 'refused': {
      const { code, message } = readErrorBody(answer as Response);
      return new ServiceError('refused', `Cannot ${name}: ${message}`, { status: decision.status, serviceCode: code });
    }
    case 'stop': {
      const { why } = decision;
      const isRedirect = decision.reason === 'redirected';
      if (!isRedirect && !decision.mayHaveBeenProcessed)
        return describeUnauthorized(endpoint, method, answer as Response);
      if (!isRepeatable) {
        const said = isRedirect ? `${why}, a redirect` : why;
        return describe('in-doubt', sayDoubt(name, said), { hint: MAYBE_DONE_ELSEWHERE, answer });
      }
      return isRedirect
        ? fail('redirected', `the address answers with a redirect (${why})`, CHECK_REDIRECT)
        : fail('unauthorized', why, CHECK_WAY);
    }
    case 'in-doubt':
      return describeDoubt(name, decision.why, answer);
    default: {
      const problem = decision.kind === 'wait' ? 'is too busy' : NO_ANSWER[answer.kind];
      const hint = !mayHaveBeenDone ? NOT_DONE : method === 'GET' ? NOT_CHANGED : MAYBE_DONE;
      return fail('unavailable', `the service ${problem}: ${decision.why}`, hint);
    }
  }
}

const NO_ANSWER = { response: 'fails', failure: 'cannot be reached, or does not answer' } as const;

const NOT_DONE = 'Nothing was done. Try again later.';
const NOT_CHANGED = 'Nothing was changed. Try again later.';
const MAYBE_DONE = 'The change may have been made; it is safe to try again later.';
const MAYBE_DONE_ELSEWHERE =
  'The change may have been made. Check before you try again, also the base address, and what stands between here and the service.';
const CHECK_REDIRECT = 'Check the base address; redirects are never followed.';
const CHECK_WAY =
  'Something between here and the service refuses the call, or the base address is wrong. Check both, then the credentials.';

function describeBadAnswer(endpoint: FailedCall['endpoint'], method: WireRequest['method'], answer: Response) {
  const { area, name, isRepeatable } = endpoint;
  if (isOwnError(answer, area) && isKeyFault(answer)) return describeUnauthorized(endpoint, method, answer);
  const problem = `HTTP ${answer.status} with an unexpected body`;
  if (!isRepeatable) return describeDoubt(name, problem, answer);
  const hint = 'It is safe to try again. If it happens again, check the base address.';
  return describe('bad-answer', `Cannot ${name}: ${problem}`, { hint, answer, fault: 'in-between' });
}

/** A 401, a 403 or a fault of the key, said by the service itself. */
function describeUnauthorized(
  { area, name }: FailedCall['endpoint'],
  method: WireRequest['method'],
  response: Response,
): ServiceError {
  const { status } = response;
  const { code, message } = readErrorBody(response);
  const wrong = describeWrongKey(area, method !== 'GET');
  return new ServiceError('unauthorized', `Cannot ${name}: ${wrong} (HTTP ${status}: ${message})`, {
    hint: `Check service.credentials of ${area}, and service.account.`,
    status,
    serviceCode: code,
  });
}

function describeDoubt(name: string, why: string, answer: Answer): ServiceError {
  return describe('in-doubt', sayDoubt(name, why), {
    hint: 'The change may have been made. Check before you try again.',
    answer,
  });
}

function sayDoubt(name: string, why: string): string {
  return `Cannot tell whether the call to ${name} succeeded: ${why}`;
}

function describe(
  code: ServiceErrorCode,
  message: string,
  { answer, ...more }: { hint: string; answer: Answer; fault?: StopFault | undefined },
): ServiceError {
  return new ServiceError(code, message, { ...more, ...(answer.kind === 'response' ? { status: answer.status } : {}) });
}
