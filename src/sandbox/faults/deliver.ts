import type { FastifyReply } from 'fastify';
import { answerHtml, answerRefused, type ErrorForm, type HttpAnswer } from '../http-answer.js';
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

/** The answer of `status-<code>` and of `status-after`: errors of the service in its own form, others as a proxy gives them. */
export function answerOfFault(fault: SandboxFault, url: string, now: number, form: ErrorForm): HttpAnswer {
  const status = statusOf(fault.kind) ?? fault.status;
  const headers = faultHeaders(fault, status, url, now);
  const isOfProxy = status === 503 && fault.retryAfterForm === 'none';
  if (form.statuses[status] !== undefined && !isOfProxy) return answerRefused({ status }, form, now, headers);
  return status < 300 ? { status, headers, body: undefined } : answerHtml(status, headers);
}

function faultHeaders(fault: SandboxFault, status: number, url: string, now: number): Record<string, string> {
  if (status >= 300 && status < 400) return { location: fault.location ?? `/redirected${url}` };
  if ((status !== 429 && status !== 503) || fault.retryAfterForm === 'none') return {};
  if (fault.retryAfterForm === 'seconds') return { 'retry-after': String(fault.retryAfter) };
  return { 'retry-after': new Date(now + fault.retryAfter * 1000).toUTCString() };
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
