import type { Workspace } from './a-workspace.js';

type Changes = Readonly<Record<string, unknown>>;

/** As fast as a job may ask for, one request at a time: requests come in the order of the rows. */
export const ONE_BY_ONE = { requestsPerSecond: 1800, messagesPerSecond: 25_000, concurrency: 1 };

/** A job that sends one SMS step to the workspace's sandbox, with what matters to a test in its place. */
export function aJob({ sandbox }: Pick<Workspace, 'sandbox'>, changes: Changes & { service?: Changes } = {}): object {
  const { service, ...rest } = changes;
  return {
    name: 'sale',
    service: {
      account: 'acme',
      credentials: { apiKey: { env: 'VOLLEY_API_KEY' } },
      bases: { sms: sandbox.origin, contacts: sandbox.origin },
      ...service,
    },
    steps: [anSmsStep()],
    output: 'out',
    ...rest,
  };
}

/** Reads people.csv in batches of ten, one request at a time. */
export function anSmsStep(changes: Changes = {}): object {
  return {
    kind: 'sms',
    input: { files: 'people.csv' },
    destination: 'mobile',
    template: { source: 'ACME', text: 'Hi {{ name }}' },
    batchSize: 10,
    limits: ONE_BY_ONE,
    ...changes,
  };
}

/** The same, for a time tomorrow: it can be taken back. */
export function aStepForTomorrow(): object {
  const scheduled = new Date(Date.now() + 86_400_000).toISOString();
  return anSmsStep({ template: { source: 'ACME', text: 'Hi {{ name }}', scheduled } });
}

/** Requests come one by one, in the order of the rows. */
export const IN_ORDER = { requestsPerSecond: 100, concurrency: 1 };

/** A job whose steps may use every area of the workspace's sandbox; the keys stand in files beside it. */
export function aJobOfAreas(workspace: Workspace, steps: readonly object[]): object {
  const { origin, credentials } = workspace.sandbox;
  const { gatewayKey, chatKey, campaign } = credentials;
  const secret = (name: string, text: string) => {
    workspace.write(name, text);
    return { file: name };
  };
  return aJob(workspace, {
    steps,
    service: {
      credentials: {
        apiKey: { env: 'VOLLEY_API_KEY' },
        gateway: { apiKey: secret('gateway.key', gatewayKey) },
        chat: { apiKey: secret('chat.key', chatKey) },
        campaign: {
          username: campaign.username,
          dataToken: secret('data.token', campaign.dataToken),
          actionToken: secret('action.token', campaign.actionToken),
        },
      },
      bases: { sms: origin, contacts: origin, verification: origin, gateway: origin, campaign: origin, chat: origin },
    },
  });
}

export function aContactsStep(changes: Changes = {}): object {
  return {
    kind: 'contacts',
    input: { files: 'people.csv' },
    fields: { firstName: 'name', msisdn: 'mobile' },
    limits: { requestsPerSecond: 1800, concurrency: 1 },
    ...changes,
  };
}

/** A CSV of so many people, P1 with the number +6591000001 and so on; each is someone else for another `from`. */
export function people(count: number, from = 1): string {
  const rows = Array.from({ length: count }, (_, index) => `P${from + index},${numberOf(from + index)}\n`);
  return `name,mobile\n${rows.join('')}`;
}

/** The number of P1, P2 … */
export function numberOf(person: number): string {
  return `+65${91_000_000 + person}`;
}

export function numbersOf(count: number, from = 1): string[] {
  return Array.from({ length: count }, (_, index) => numberOf(from + index));
}
