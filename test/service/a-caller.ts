import { ServiceError } from '../../src/domain/errors.js';
import type { Answer } from '../../src/service/answer.js';
import { type CallerDeps, createCaller } from '../../src/service/caller.js';
import type { Endpoint } from '../../src/service/endpoint.js';
import type { Call } from '../../src/service/transport.js';
import { FakeClock } from '../run/fake-clock.js';
import { aResponse, someAddresses } from './an-answer.js';

export const SECRET = 'Bearer k3y-of-acme';
export const GIVE_UP_AFTER_MS = 60_000;
export const TEXT = 'the body of a message';

export const GOOD = aResponse({ ok: true });
export const REFUSED = { kind: 'failure', mayHaveBeenProcessed: false, reason: 'ECONNREFUSED' } as const;
export const LOST = { kind: 'failure', mayHaveBeenProcessed: true, reason: 'UND_ERR_SOCKET' } as const;

export const readOk: Endpoint<string, string>['read'] = ({ body }) =>
  String(body).includes('"ok"') ? 'done' : undefined;
export const WRITE: Endpoint<string, string> = {
  name: 'do it',
  area: 'gateway',
  isRepeatable: false,
  request: ({ bases }, text) => ({
    method: 'POST',
    base: bases.gateway,
    path: '/do',
    headers: {},
    body: Buffer.from(text),
  }),
  read: readOk,
};
export const UPSERT: Endpoint<string, string> = { ...WRITE, isRepeatable: true };
export const READ: Endpoint<string, string> = {
  ...UPSERT,
  name: 'read it',
  request: ({ bases }) => ({ method: 'GET', base: bases.gateway, path: '/it', headers: {}, body: undefined }),
};

/** A caller before a service that gives these answers, one after the other; its lane lets time pass where it would wait. */
export function aCaller(answers: readonly Answer[], deps: Partial<CallerDeps> = {}) {
  const clock = new FakeClock();
  const told: string[] = [];
  const sent: Call[] = [];
  const left = [...answers];
  let pauseMs = 0;
  const call = createCaller({
    service: someAddresses(),
    transport: {
      send: async (request) => {
        sent.push(request);
        told.push('sent');
        const answer = left.shift();
        if (answer === undefined) throw new Error('the test has no more answers');
        return answer;
      },
      close: async () => {},
    },
    authorize: () => ({ authorization: SECRET }),
    laneOf: (area) => ({
      run: async (_cost, task) => {
        clock.jump({ wallMs: pauseMs, steadyMs: pauseMs });
        pauseMs = 0;
        return task(async () => void told.push(`gate of ${area}`));
      },
      pauseFor: (delayMs) => {
        told.push(`pause ${delayMs}`);
        pauseMs = delayMs;
      },
      slowDown: () => void told.push('slower'),
      noteSuccess: () => void told.push('success'),
    }),
    clock,
    giveUpAfterMs: GIVE_UP_AFTER_MS,
    ...deps,
  });
  return { call, told, sent, clock };
}

export const KINDS = { 'a write': WRITE, 'an upsert': UPSERT, 'a read': READ };

export function nameOf(answer: Answer): string {
  return answer.kind === 'failure' ? answer.reason : `HTTP ${answer.status} ${answer.body}`;
}

export async function failureOf(work: Promise<unknown>): Promise<ServiceError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ServiceError)) throw new Error(`expected a ServiceError, got ${error}`);
  return error;
}

export const attemptsIn = (told: readonly string[]) => told.filter((word) => word === 'sent').length;
export const repeat = (answer: Answer, times = 100) => Array.from({ length: times }, () => answer);
