import type { Problem } from '../../src/errors.js';
import { UserError } from '../../src/errors.js';
import { parseJob } from '../../src/job/load.js';

/** A faultless job as a person writes it, with what matters to a test in its place. JSON is YAML. */
export function aJobFile(changes: Record<string, unknown> = {}): string {
  return JSON.stringify({ service: aService(), steps: [anSmsStep()], ...changes });
}

export function aService(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { account: 'acme', credentials: { apiKey: { env: 'VOLLEY_API_KEY' } }, ...changes };
}

export function anSmsStep(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    kind: 'sms',
    input: { files: 'people.csv' },
    destination: 'mobile',
    template: { text: 'Hello' },
    ...changes,
  };
}

export function aContactsStep(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { kind: 'contacts', input: { files: 'people.csv' }, fields: { msisdn: 'mobile' }, ...changes };
}

/** The refusal of a text; fails the test when the text is accepted or anything else is thrown. */
export function refusalOf(text: string, file = 'sale.yaml'): UserError {
  try {
    parseJob(text, file);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error('The job was accepted, expected a refusal');
}

export function problemsOf(text: string, file?: string): readonly Problem[] {
  return refusalOf(text, file).problems;
}

/** `3:5 message`, for tests of the place. */
export function placesOf(text: string): string[] {
  return problemsOf(text).map(({ where, message }) => `${where.replace('sale.yaml:', '')} ${message}`);
}

/** All that a person would be shown. */
export function everythingSaid(error: UserError): string {
  return [error.message, error.hint, ...error.problems.flatMap((problem) => Object.values(problem))].join('\n');
}
