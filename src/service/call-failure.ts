import { ServiceError, type ServiceErrorCode } from '../domain/errors.js';
import { type Answer, isKeyFault, isOwnError, type Response, readErrorBody } from './answer.js';
import { type Decision, WRONG_KEY } from './decide-answer.js';
import type { Endpoint, WireRequest } from './endpoint.js';

/** A call that ended without a good answer. */
export interface FailedCall {
  readonly endpoint: Endpoint<never, unknown>;
  readonly method: WireRequest['method'];
  readonly decision: Exclude<Decision, { kind: 'read' }>;
  readonly answer: Answer;
  /** By its last attempt, or by one before it. */
  readonly mayHaveBeenDone: boolean;
}

/** The error for a call that was refused, or must not be retried. */
export function describeCallFailure({ endpoint, method, decision, answer, mayHaveBeenDone }: FailedCall): ServiceError {
  const { name, isRepeatable } = endpoint;
  const fail = (code: ServiceErrorCode, said: string, hint: string) =>
    describe(code, `Cannot ${name}: ${said}`, hint, answer);
  switch (decision.kind) {
    case 'refused': {
      const { code, message } = readErrorBody(answer as Response);
      return new ServiceError('refused', `Cannot ${name}: ${message}`, { status: decision.status, serviceCode: code });
    }
    case 'stop': {
      const { why } = decision;
      const isRedirect = decision.reason === 'redirected';
      if (!isRedirect && !decision.mayHaveBeenProcessed) return describeUnauthorized(endpoint, answer as Response);
      if (!isRepeatable) return describeDoubt(name, isRedirect ? `${why}, a redirect` : why, answer);
      return isRedirect
        ? fail('redirected', `the address answers with a redirect (${why})`, CHECK_REDIRECT)
        : fail('unauthorized', why, CHECK_WAY);
    }
    case 'in-doubt':
      return describeDoubt(name, decision.why, answer);
    default: {
      const isAway = answer.kind === 'failure';
      const problem = isAway
        ? 'cannot be reached, or does not answer'
        : decision.kind === 'wait'
          ? 'is too busy'
          : 'fails';
      const changed = method === 'GET' ? 'Nothing was changed. Try again later.' : MAYBE_DONE;
      const hint = mayHaveBeenDone ? changed : 'Nothing was done. Try again later.';
      return fail('unavailable', `the service ${problem}: ${decision.why}`, hint);
    }
  }
}

const MAYBE_DONE = 'The change may have been made; it is safe to try again later.';
const CHECK_REDIRECT = 'Check the base address; redirects are never followed.';
const CHECK_WAY =
  'Something between here and the service refuses the call, or the base address is wrong. Check both, then the credentials.';

/** The error for a 2xx whose body is not what the endpoint answers with. */
export function describeBadAnswer(endpoint: FailedCall['endpoint'], answer: Response): ServiceError {
  const { area, name, isRepeatable } = endpoint;
  if (isOwnError(answer, area) && isKeyFault(answer)) return describeUnauthorized(endpoint, answer);
  const problem = `HTTP ${answer.status} with an unexpected body`;
  if (!isRepeatable) return describeDoubt(name, problem, answer);
  const hint = 'It is safe to try again. If it happens again, check the base address.';
  return describe('bad-answer', `Cannot ${name}: ${problem}`, hint, answer);
}

const WRONG_TOKEN = 'the user name or the token is wrong or not of this account';

/** A 401, a 403 or a fault of the key, said by the service itself. */
function describeUnauthorized({ area, name }: FailedCall['endpoint'], response: Response): ServiceError {
  const { status } = response;
  const { code, message } = readErrorBody(response);
  const wrong = area === 'campaign' ? WRONG_TOKEN : WRONG_KEY;
  return new ServiceError('unauthorized', `Cannot ${name}: ${wrong} (HTTP ${status}: ${message})`, {
    hint: `Check service.credentials of ${area}, and service.account. \`volley check JOB --online\` tries them without sending anything.`,
    status,
    serviceCode: code,
  });
}

function describeDoubt(name: string, why: string, answer: Answer): ServiceError {
  const message = `Cannot tell whether the call to ${name} succeeded: ${why}`;
  return describe('in-doubt', message, 'The change may have been made. Check before you try again.', answer);
}

function describe(code: ServiceErrorCode, message: string, hint: string, answer: Answer): ServiceError {
  return new ServiceError(code, message, { hint, ...(answer.kind === 'response' ? { status: answer.status } : {}) });
}
