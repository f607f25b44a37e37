import type { FastifyReply } from 'fastify';
import { answerHtml, answerRefused, type ErrorForm, type HttpAnswer } from '../http-answer.js';
import { type SandboxFault, STATUS_KIND } from './fault.js';

/**
 * Sends what came of processing, undefined where the fault struck before it, as the fault says, or nothing. `form` and `now`
 * are for errors of the area.
 */
export async function deliver(
  reply: FastifyReply,
  processed: HttpAnswer | undefined,
  fault: SandboxFault | undefined,
  form: ErrorForm,
  now: number,
): Promise<void> {
  if (fault === undefined) return processed && send(reply, processed);
  const status = processed?.status ?? 0;
  switch (fault.kind) {
    case 'reset-before':
    case 'reset-after':
      reply.hijack();
      reply.raw.socket?.resetAndDestroy();
      return;
    case 'stall':
    case 'stall-after':
      // The socket stays open until the client, or the closing sandbox, ends it.
      reply.hijack();
      return;
    case 'truncated':
      return processed && sendTruncated(reply, processed);
    case 'empty':
      return send(reply, { status, headers: {}, body: undefined });
    case 'html':
      return send(reply, answerHtml(status));
    default:
      return send(reply, answerOfFault(fault, reply.request.url, now, form));
  }
}

/** The answer of `status-<code>` and of `status-after`: errors of the service in its own form, others as a proxy gives them. */
function answerOfFault(fault: SandboxFault, url: string, now: number, form: ErrorForm): HttpAnswer {
  const status = Number(STATUS_KIND.exec(fault.kind)?.[1] ?? fault.status);
  const headers = faultHeaders(fault, status, url, now);
  const isOfProxy = status === 503 && fault.retryAfterForm === 'none';
  if (form.statuses[status] !== undefined && !isOfProxy) return answerRefused({ status }, form, now, headers);
  return status < 300 ? { status, headers, body: undefined } : answerHtml(status, headers);
}

function faultHeaders(fault: SandboxFault, status: number, url: string, now: number): Record<string, string> {
  if (status >= 300 && status < 400) return { location: `/redirected${url}` };
  if ((status !== 429 && status !== 503) || fault.retryAfterForm === 'none') return {};
  if (fault.retryAfterForm === 'seconds') return { 'retry-after': String(fault.retryAfter) };
  return { 'retry-after': new Date(now + fault.retryAfter * 1000).toUTCString() };
}

async function send(reply: FastifyReply, answer: HttpAnswer): Promise<void> {
  reply.code(answer.status).headers(answer.headers);
  await reply.send(answer.body === undefined ? undefined : toBytes(answer.body));
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
