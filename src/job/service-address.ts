import { isLoopback } from '../domain/loopback.js';
import { BELL_CANADA_BASE, CAMPAIGN_BASE_FORM, CAMPAIGN_PLATFORMS, CC_PLATFORM } from '../domain/service-facts.js';
import { trimEndOf } from '../domain/text.js';

/**
 * Addresses of the service, as a job may write them. What finds a fault says what is expected, and is undefined where
 * there is none.
 */

/** Placeholder until the sandbox reports its address: nothing can listen on port 0, so nothing can be sent by mistake. */
export const NO_BASE = 'http://127.0.0.1:0';

/** A base address is https, or http to this machine only. */
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

/** The platform of a contact center. */
export function findPlatformFault(text: string): string | undefined {
  if (CC_PLATFORM.test(text)) return undefined;
  const regions = Object.keys(CAMPAIGN_PLATFORMS).join(' ');
  return `expected one of ${regions} followed by up to 21 letters, digits or hyphens, such as na12`;
}

/** The address of a contact center; undefined without a platform, and for Bell Canada, whose addresses follow no rule. */
export function buildCampaignBase(platform: string | undefined): string | undefined {
  if (platform === undefined || isOfBellCanada(platform)) return undefined;
  return CAMPAIGN_BASE_FORM.replace('{ccPlatform}', platform.toLowerCase());
}

export function isOfBellCanada(platform: string): boolean {
  return /^BC/i.test(platform);
}

/** An example of an address, for a hint. */
export const DOCUMENTED_ADDRESS = `the documentation has ${BELL_CANADA_BASE} for BC2`;
