import type { CountryCode } from 'libphonenumber-js/max';
import { isObject } from '../../domain/is-object.js';
import { ERROR_CODE, type RequestRefusal } from '../http-answer.js';
import { isCountry, readDestination } from './session-destination.js';

/** A creation whose form is right, every default filled. */
export interface SessionCreation {
  /** International, as a number. */
  readonly destination: number;
  readonly brand: string | undefined;
  /** The SMS, with `{code}` and `{brand}`; undefined = the service's default. */
  readonly template: string | undefined;
  readonly source: string | null;
  readonly codeLength: number;
  /** Seconds. */
  readonly codeValidity: number;
  /** Seconds. */
  readonly resendingInterval: number;
  readonly resetSession: boolean;
}

/** Limits and defaults of the service's documentation. */
const MAX_BRAND = 30;
const MAX_SOURCE = 16;
const MAX_ALPHANUMERIC_SOURCE = 11;
const ENCODINGS: readonly unknown[] = ['AUTO', 'GSM7', 'UCS2'];
const RANGES = {
  codeLength: { min: 3, max: 10, default: 4 },
  /** Seconds, as the next. */
  codeValidity: { min: 30, max: 7200, default: 300 },
  resendingInterval: { min: 10, max: 7200, default: 10 },
} as const;

/** Checks a whole body, first fault first; fields that the service does not know are dropped. */
export function readSessionRequest(body: unknown): SessionCreation | RequestRefusal {
  if (!isObject(body)) return invalid('Request body must be a JSON object');
  const { destination: written, country, sms = {} } = body;
  const refusal =
    refuseCountry(country) ?? refuseTexts(body) ?? refuseNumbers(body) ?? refuseChannel(body.channel) ?? refuseSms(sms);
  if (refusal !== undefined) return refusal;
  const destination =
    typeof written === 'string'
      ? readDestination(written, country?.toString().toUpperCase() as CountryCode)
      : undefined;
  if (destination === undefined) {
    return { code: ERROR_CODE.invalidMsisdn, message: 'Invalid MSISDN format (not E.164 international number)' };
  }
  return {
    destination,
    brand: body.brand as string | undefined,
    template: body.template as string | undefined,
    source: ((sms as Record<string, unknown>).source as string | undefined) ?? null,
    codeLength: (body.codeLength as number | undefined) ?? RANGES.codeLength.default,
    codeValidity: (body.codeValidity as number | undefined) ?? RANGES.codeValidity.default,
    resendingInterval: (body.resendingInterval as number | undefined) ?? RANGES.resendingInterval.default,
    resetSession: body.resetSession === true,
  };
}

type Body = Readonly<Record<string, unknown>>;

function refuseCountry(country: unknown): RequestRefusal | undefined {
  if (country === undefined || (typeof country === 'string' && isCountry(country.toUpperCase()))) return undefined;
  return { code: ERROR_CODE.country, message: 'Invalid country: must be a two-letter country code' };
}

function refuseTexts({ brand, template, resetSession }: Body): RequestRefusal | undefined {
  if (brand !== undefined && (typeof brand !== 'string' || brand.length > MAX_BRAND)) {
    return invalid(`brand must be a text of at most ${MAX_BRAND} characters`);
  }
  if (template !== undefined && (typeof template !== 'string' || template === '')) {
    return { code: ERROR_CODE.template, message: 'Invalid template: must be a text' };
  }
  if (resetSession !== undefined && typeof resetSession !== 'boolean') return invalid('resetSession must be a boolean');
  return undefined;
}

function refuseNumbers(body: Body): RequestRefusal | undefined {
  for (const [field, { min, max }] of Object.entries(RANGES)) {
    const value = body[field];
    if (value === undefined) continue;
    if (!Number.isInteger(value)) return invalid(`${field} must be an integer`);
    if ((value as number) < min || (value as number) > max) {
      return { code: ERROR_CODE.outOfRange, message: `${field} must be between ${min} and ${max}` };
    }
  }
  return undefined;
}

/** The contract sends by SMS; the sandbox has no other channel. */
function refuseChannel(channel: unknown): RequestRefusal | undefined {
  return channel === undefined || channel === 'sms' ? undefined : invalid('channel must be sms');
}

function refuseSms(sms: unknown): RequestRefusal | undefined {
  if (!isObject(sms)) return invalid('sms must be an object');
  const { source, encoding } = sms;
  if (source !== undefined && (typeof source !== 'string' || !isSource(source))) {
    return { code: ERROR_CODE.source, message: 'Invalid Source value. Reached max allowed limit' };
  }
  if (encoding !== undefined && !ENCODINGS.includes(encoding)) {
    return { code: ERROR_CODE.encoding, message: `Invalid encoding: must be one of ${ENCODINGS.join(', ')}` };
  }
  return undefined;
}

function isSource(source: string): boolean {
  const max = /^\+?\d+$/.test(source) ? MAX_SOURCE : MAX_ALPHANUMERIC_SOURCE;
  return source.length >= 1 && source.length <= max;
}

function invalid(message: string): RequestRefusal {
  return { code: ERROR_CODE.invalidParameter, message };
}
