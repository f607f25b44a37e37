import { answerJson, type HttpAnswer } from '../http-answer.js';
import type { Fields } from '../ledger/entry-head.js';

/** Why the gateway refuses. Codes as the service's documentation has them, where it has one. */
export interface GatewayProblem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

export const INTERNAL: GatewayProblem = { status: 500, code: 'internal_error', message: 'Internal error.' };

export const PROBLEM_TYPE = 'application/problem+json';

/** The gateway's own form of an error, in which every refusal of its routes leaves. */
export function answerProblem(problem: GatewayProblem, referenceId: string): HttpAnswer {
  const { status } = problem;
  return answerJson(status, toProblemBody(problem, referenceId), { 'content-type': PROBLEM_TYPE });
}

export function toProblemBody({ code, message }: GatewayProblem, referenceId: string): Fields {
  return { message, errors: [{ code, message }], referenceId };
}

export function invalid(message: string, code = 'invalid_parameter'): GatewayProblem {
  return { status: 400, code, message };
}

export function notFound(what: string, id: string): GatewayProblem {
  return {
    status: 404,
    code: 'resource_not_found',
    message: `Entity of type ${what} with id ${id} was not found.`,
  };
}

export function isProblem(value: object): value is GatewayProblem {
  return 'status' in value && 'code' in value && 'message' in value;
}

/** A text of 1 to `max` characters. */
export function isText(value: unknown, max = Number.POSITIVE_INFINITY): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= max;
}
