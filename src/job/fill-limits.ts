import { defaultLimits } from './ceilings.js';
import type { Limits, Step } from './job.js';

/** Limits as written in a step or at the top of a file; others are undefined or absent. */
export type WrittenLimits = { readonly [Key in keyof Limits]?: Limits[Key] | undefined } | undefined;

/** Of each limit that the kind has, the first that is written, else the default of the kind. */
export function fillLimits(kind: Step['kind'], sources: readonly WrittenLimits[]): Limits {
  const defaults = defaultLimits[kind];
  const pick = <Key extends keyof Limits>(key: Key) =>
    sources.find((limits) => limits?.[key] !== undefined)?.[key] ?? defaults[key];
  // Messages and their parts are counted for SMS alone.
  const ofMessages = kind === 'sms' ? pick : () => undefined;
  return {
    requestsPerSecond: pick('requestsPerSecond'),
    messagesPerSecond: ofMessages('messagesPerSecond'),
    segmentsPerSecond: ofMessages('segmentsPerSecond'),
    concurrency: pick('concurrency'),
  };
}
