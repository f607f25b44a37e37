import type { FastifyReply } from 'fastify';
import {
  answerError,
  answerHtml,
  answerJson,
  answerRefused,
  ERROR_CODE,
  type ErrorForm,
  type HttpAnswer,
} from '../http-answer.js';
import { type SandboxFault, statusOf } from './fault.js';

/** Sends an answer, or not, as the fault says. Returns the status that was sent; 0 if none was. */
export async function deliver(
  reply: FastifyReply,
  answer: HttpAnswer,
  fault: SandboxFault | undefined,
): Promise<number> {
  switch (fault?.kind) {
    case 'reset-before':
    case 'reset-after':
      reply.hijack();
      reply.raw.socket?.resetAndDestroy();
      return 0;
    case 'close-before':
    case 'close-after':
      reply.hijack();
      reply.raw.socket?.destroy();
      return 0;
    case 'stall':
    case 'stall-after':
      // The socket stays open until the client, or the closing sandbox, ends it.
      reply.hijack();
      return 0;
    case 'truncated':
      sendTruncated(reply, answer);
      return answer.status;
    case 'empty':
      return send(reply, { status: answer.status, headers: {}, body: undefined });
    case 'html':
      return send(reply, answerHtml(answer.status));
    default:
      return send(reply, answer);
  }
}

/** The request that a fault was applied to. */
export interface FaultedRequest {
  readonly url: string;
  readonly now: number;
  /** Of its area; undefined where that has the form of SMS. */
  readonly form: ErrorForm | undefined;
}

/** The answer of `status-<code>` and of `status-after`: errors of the service in its own form, others as a proxy gives them. */
export function answerOfFault(fault: SandboxFault, { url, now, form }: FaultedRequest): HttpAnswer {
  const status = statusOf(fault.kind) ?? fault.status;
  const headers = faultHeaders(fault, { status, url, now });
  if (form?.statuses[status] !== undefined) {
    const { body, headers: type } = answerRefused({ status, message: undefined }, form, now);
    return answerJson(status, body, { ...(status < 400 ? {} : type), ...headers });
  }
  if (status < 300) return { status, headers, body: undefined };
  const isOfProxy = status === 503 && (fault.retryAfterForm === 'none' || form !== undefined);
  const code = isOfProxy ? undefined : CODE_OF_STATUS[status];
  if (code === undefined) return answerHtml(status, headers);
  return answerError(status, { code, message: `The sandbox was set to answer ${status}` }, now, headers);
}

const CODE_OF_STATUS: Readonly<Record<number, number>> = {
  400: ERROR_CODE.invalidParameter,
  401: ERROR_CODE.notAuthenticated,
  403: ERROR_CODE.forbidden,
  404: ERROR_CODE.notFound,
  410: ERROR_CODE.notFound,
  413: ERROR_CODE.bulkLimit,
  422: ERROR_CODE.invalidParameter,
  426: 1014,
  429: ERROR_CODE.quotaExceeded,
  500: ERROR_CODE.internal,
  503: ERROR_CODE.internal,
};

function faultHeaders(fault: SandboxFault, came: { status: number; url: string; now: number }): Record<string, string> {
  if (came.status >= 300 && came.status < 400) return { location: fault.location ?? `/redirected${came.url}` };
  if ((came.status !== 429 && came.status !== 503) || fault.retryAfterForm === 'none') return {};
  if (fault.retryAfterForm === 'seconds') return { 'retry-after': String(fault.retryAfter) };
  return { 'retry-after': new Date(came.now + fault.retryAfter * 1000).toUTCString() };
}

async function send(reply: FastifyReply, answer: HttpAnswer): Promise<number> {
  reply.code(answer.status).headers(answer.headers);
  await reply.send(answer.body === undefined ? undefined : toBytes(answer.body));
  return answer.status;
}

/** Promises the whole body in Content-Length, sends half of it, and closes. */
function sendTruncated(reply: FastifyReply, answer: HttpAnswer): void {
  const bytes = toBytes(answer.body);
  reply.hijack();
  reply.raw.writeHead(answer.status, { ...answer.headers, 'content-length': String(bytes.length) });
  reply.raw.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => reply.raw.socket?.destroySoon());
}

function toBytes(body: unknown): Buffer {
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body ?? ''));
}
