import { basesByRegion, GATEWAY_BASE } from '../domain/service-facts.js';
import { trimEndOf } from '../domain/trim-end.js';

/** What a base address of the service may be. */

const SERVICE_ORIGINS: ReadonlySet<string> = new Set([
  ...Object.values(basesByRegion).flatMap((bases) => Object.values(bases)),
  GATEWAY_BASE,
]);

/** Whether requests with rows go there by default, in any region. */
export function isServiceOrigin(origin: string): boolean {
  return SERVICE_ORIGINS.has(origin);
}

/** Placeholder until the sandbox reports its address: nothing can listen on port 0, so nothing can be sent by mistake. */
export const NO_BASE = 'http://127.0.0.1:0';

/** What is wrong with a base address, as "expected …"; undefined when it may be used: https, or http to this machine only. */
export function findBaseFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'expected an address such as https://sms.example.com';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    return 'expected https:// (http:// only for this machine itself)';
  }
  if (url.username !== '' || url.password !== '') return 'expected an address without user name and password';
  if (/[?#]/.test(text)) return 'expected an address without ? and #';
  return undefined;
}

/** Origin and path prefix, without a slash at the end; the address must be valid. */
export function normalizeBase(text: string): string {
  const url = new URL(text);
  return trimEndOf(`${url.origin}${url.pathname}`, '/');
}

/** Whether a host is this machine itself. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
