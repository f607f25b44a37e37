import { BELL_CANADA_BASE, CAMPAIGN_BASE_FORM, CAMPAIGN_PLATFORMS, CC_PLATFORM } from '../domain/service-facts.js';

/** What is wrong with a platform of the contact center, as "expected …"; undefined when it is valid. */
export function findPlatformFault(text: string): string | undefined {
  if (CC_PLATFORM.test(text)) return undefined;
  const regions = Object.keys(CAMPAIGN_PLATFORMS).join(' ');
  return `expected one of ${regions} followed by up to 21 letters, digits or hyphens, such as na12`;
}

/** The address of a valid platform's contact center; undefined for Bell Canada, whose addresses follow no rule. */
export function buildCampaignBase(platform: string | undefined): string | undefined {
  if (platform === undefined || isOfBellCanada(platform)) return undefined;
  return CAMPAIGN_BASE_FORM.replace('{ccPlatform}', platform.toLowerCase());
}

export function isOfBellCanada(platform: string): boolean {
  return /^BC/i.test(platform);
}

/** For a hint. */
export const DOCUMENTED_ADDRESS = `the documentation has ${BELL_CANADA_BASE} for BC2`;
