import { ServiceError } from '../domain/errors.js';
import { type Answer, isKeyFault, isOwnError, type Response, readErrorBody } from './answer.js';
import { type Decision, WRONG_KEY } from './decide-answer.js';
import type { Endpoint, WireRequest } from './endpoint.js';

/** A call that ended without a good answer. */
export interface FailedCall {
  readonly endpoint: Endpoint<never, unknown>;
  readonly method: WireRequest['method'];
  readonly decision: Decision;
  readonly answer: Answer;
  /** By its last attempt, or by one before it. */
  readonly mayHaveBeenDone: boolean;
}

/** The error for a call that was refused, or must not be retried. */
export function describeCallFailure(failed: FailedCall): ServiceError {
  const { endpoint, decision, answer } = failed;
  const { name, isRepeatable } = endpoint;
  switch (decision.kind) {
    case 'refused':
      return describeRefusal(name, answer as Response);
    case 'stop':
      if (decision.reason === 'redirected') {
        return isRepeatable
          ? describeRedirect(name, decision.why, answer)
          : describeDoubt(name, `${decision.why}, a redirect`, answer);
      }
      if (!decision.mayHaveBeenProcessed) return describeUnauthorized(endpoint, answer as Response);
      return isRepeatable ? describeBarred(name, decision.why, answer) : describeDoubt(name, decision.why, answer);
    case 'again':
    case 'wait':
      return describeUnavailable(failed, decision.why);
    default:
      return describeDoubt(name, decision.kind === 'in-doubt' ? decision.why : 'its answer was not read', answer);
  }
}

/** The error for a 2xx whose body is not what the endpoint answers with. */
export function describeBadAnswer(endpoint: FailedCall['endpoint'], answer: Response): ServiceError {
  const { area, name, isRepeatable } = endpoint;
  if (isOwnError(answer, area) && isKeyFault(answer)) return describeUnauthorized(endpoint, answer);
  const problem = `HTTP ${answer.status} with an unexpected body`;
  if (!isRepeatable) return describeDoubt(name, problem, answer);
  return new ServiceError('bad-answer', `Cannot ${name}: ${problem}`, {
    hint: 'It is safe to try again. If it happens again, check the base address.',
    ...statusOf(answer),
  });
}

function describeRefusal(name: string, response: Response): ServiceError {
  const { code, message } = readErrorBody(response);
  return new ServiceError('refused', `Cannot ${name}: ${message}`, { status: response.status, serviceCode: code });
}

const WRONG_TOKEN = 'the user name or the token is wrong or not of this account';

function describeUnauthorized({ area, name }: FailedCall['endpoint'], response: Response): ServiceError {
  const { status } = response;
  const { code, message } = readErrorBody(response);
  return new ServiceError(
    'unauthorized',
    `Cannot ${name}: ${area === 'campaign' ? WRONG_TOKEN : WRONG_KEY} (HTTP ${status}: ${message})`,
    {
      hint: `Check service.credentials of ${area}, and service.account. \`volley check JOB --online\` tries them without sending anything.`,
      status,
      serviceCode: code,
    },
  );
}

/** 401 or 403 that the service itself did not say. */
function describeBarred(name: string, why: string, answer: Answer): ServiceError {
  return new ServiceError('unauthorized', `Cannot ${name}: ${why}`, {
    hint: 'Something between here and the service refuses the call, or the base address is wrong. Check both, then the credentials.',
    ...statusOf(answer),
  });
}

function describeRedirect(name: string, why: string, answer: Answer): ServiceError {
  return new ServiceError('redirected', `Cannot ${name}: the address answers with a redirect (${why})`, {
    hint: 'Check the base address; redirects are never followed.',
    ...statusOf(answer),
  });
}

function describeUnavailable(failed: FailedCall, why: string): ServiceError {
  const { endpoint, decision, answer } = failed;
  const problem = decision.kind === 'wait' ? 'is too busy' : NO_ANSWER[answer.kind];
  return new ServiceError('unavailable', `Cannot ${endpoint.name}: the service ${problem}: ${why}`, {
    hint: describeDone(failed),
    ...statusOf(answer),
  });
}

const NO_ANSWER: Readonly<Record<Answer['kind'], string>> = {
  response: 'fails',
  failure: 'cannot be reached, or does not answer',
};

function describeDone({ method, mayHaveBeenDone }: FailedCall): string {
  if (!mayHaveBeenDone) return 'Nothing was done. Try again later.';
  return method === 'GET'
    ? 'Nothing was changed. Try again later.'
    : 'The change may have been made; it is safe to try again later.';
}

function describeDoubt(name: string, why: string, answer: Answer): ServiceError {
  return new ServiceError('in-doubt', `Cannot tell whether the call to ${name} succeeded: ${why}`, {
    hint: 'The change may have been made. Check before you try again.',
    ...statusOf(answer),
  });
}

function statusOf(answer: Answer): { status?: number } {
  return answer.kind === 'response' ? { status: answer.status } : {};
}
