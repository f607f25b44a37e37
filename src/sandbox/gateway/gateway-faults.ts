import type { AreaCall, Distortable, Route } from '../area.js';
import { findRowFault } from '../faults/chosen.js';
import type { Fields } from '../ledger/entry-head.js';
import { type GatewayProblem, INTERNAL, invalid, toProblemBody } from './problem.js';

/** Statuses that the service's documentation gives an error body of the gateway. */
const PROBLEM_OF_STATUS: Readonly<Record<number, GatewayProblem>> = {
  400: invalid('Invalid parameter.'),
  401: { status: 401, code: 'access_denied', message: 'Access Denied' },
  403: { status: 403, code: 'forbidden', message: 'The tenant does not belong to customer.' },
  404: { status: 404, code: 'resource_not_found', message: 'Resource not found' },
  413: { status: 413, code: 'request_too_large', message: 'Request body is too large' },
  500: INTERNAL,
};

/** The gateway's body of a status that a fault sets; undefined for a status that is not the gateway's. */
export function gatewayBodyOfStatus(status: number, referenceId: string): Fields | undefined {
  const problem = PROBLEM_OF_STATUS[status];
  return problem === undefined ? undefined : toProblemBody(problem, referenceId);
}

/** The customer's number, by which a fault can choose; '' where there is none. */
export function readPhone(body: unknown): readonly string[] {
  const user = typeof body === 'object' && body !== null && 'user' in body ? body.user : undefined;
  const phone = typeof user === 'object' && user !== null && 'phone' in user ? user.phone : undefined;
  return [typeof phone === 'string' ? phone : ''];
}

/** A fault of rows refuses the one that the request is about: 400, or 500 for `internal-rows`. */
export function refuseByFault(call: AreaCall): GatewayProblem | undefined {
  const fault = findRowFault(call.rowFaults, readPhone(call.body)[0] ?? '');
  if (fault === undefined) return undefined;
  return fault.kind === 'reject-rows' ? invalid(fault.description) : INTERNAL;
}

/** Answers without their id, and with a foreign one. */
export function distortId(field: 'id' | 'conversationId'): Route['distortions'] {
  return {
    partial: ({ body }) => {
      const { [field]: _, ...rest } = body as Record<string, unknown>;
      return rest;
    },
    foreign: ({ body, previousBody }: Distortable) => previousBody ?? { ...(body as Fields), [field]: 'not-yours' },
  };
}
