import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export const SECRET_HEADER = 'x-volley-secret';
const HOOK = '/hook';

/** Undefined accepts a delivery; a number is the HTTP status that refuses it. */
export type DeliveryAuth = (url: string, headers: IncomingHttpHeaders) => 401 | 404 | undefined;

/**
 * Checks who may deliver. With a secret: `/hook/<secret>`, percent-encoded where needed, or `/hook` with the secret in
 * the header `x-volley-secret`. Without one: `/`, but not from a web page, since any page open on this machine can
 * reach loopback.
 */
export function createDeliveryAuth(secret: string | undefined): DeliveryAuth {
  if (secret === undefined) {
    return (url, headers) => (pathOf(url) === '/' && headers.origin === undefined ? undefined : 404);
  }
  const expected = digest(secret);
  // Compare digests: they have equal length, and a partial match reveals nothing about the secret.
  const isSecret = (given: string) => timingSafeEqual(digest(given), expected);
  return (url, headers) => {
    const path = pathOf(url);
    if (path === HOOK) {
      const given = headers[SECRET_HEADER];
      return typeof given === 'string' && isSecret(given) ? undefined : 401;
    }
    if (!path.startsWith(`${HOOK}/`)) return 404;
    return isSecret(decode(path.slice(HOOK.length + 1))) ? undefined : 404;
  };
}

/** The path to show to people. */
export function describePath(secret: string | undefined): string {
  return secret === undefined ? '/' : `${HOOK}/<secret>`;
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? url;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
