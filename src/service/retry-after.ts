import type { Response } from './answer.js';

/** RFC 9110, 10.2.3: seconds or an HTTP date. Undefined when absent or unreadable; never negative, always finite. */
export function readRetryAfterMs(response: Response, nowMs: number): number | undefined {
  const header = response.headers['retry-after'];
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  if (!/^[A-Z][a-z]{2},/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
