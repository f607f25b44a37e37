import { UserError } from '../../src/domain/errors.js';
import { type Input, isRowStep, type Job, type Step } from '../../src/job/job.js';
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

export function aStartStep(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { kind: 'verification.start', input: { files: 'people.csv' }, destination: 'mobile', ...changes };
}

export function aCheckStep(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { kind: 'verification.check', input: { files: 'codes.csv' }, session: 'sessionId', ...changes };
}

export function aConversationsStep(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { kind: 'conversations', input: { files: 'handoff.ndjson' }, channel: '25', queue: '100', ...changes };
}

export function aCampaignStep(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { kind: 'campaign', campaign: 101, set: 'PAUSED', ...changes };
}

export function aChatStep(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { kind: 'chat', text: '{{ job }}: {{ accepted }} of {{ read }}', ...changes };
}

/** For every area. */
export const ALL_CREDENTIALS = {
  apiKey: { env: 'CONNECT_KEY' },
  gateway: { apiKey: { env: 'GATEWAY_KEY' } },
  campaign: { username: 'acme', dataToken: { env: 'DATA_TOKEN' }, actionToken: { env: 'ACTION_TOKEN' } },
  chat: { apiKey: { env: 'CHAT_KEY' } },
};

/** The filled form of one written step, in a job on the sandbox that has rows in another. */
export function fillOne<Kind extends Step['kind']>(
  kind: Kind,
  written: Record<string, unknown>,
): Extract<Step, { kind: Kind }> {
  const job = aJobFile({ service: { sandbox: true }, steps: [written, anSmsStep()] });
  const [step] = parseJob(job, '/jobs/a.yaml').steps;
  if (step?.kind !== kind) throw new Error(`The step is of kind ${step?.kind}, expected ${kind}`);
  return step as Extract<Step, { kind: Kind }>;
}

/** The input of the job's first step, which has rows. */
export function inputOf({ steps: [step] }: Job): Input {
  if (step === undefined || !isRowStep(step)) throw new Error('The first step has no rows, expected one that has');
  return step.input;
}

/** The refusal of a text; fails the test when the text is accepted or anything else is thrown. */
export function refusalOf(text: string, file = 'sale.yaml', options?: Parameters<typeof parseJob>[2]): UserError {
  try {
    parseJob(text, file, options);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error('The job was accepted, expected a refusal');
}
