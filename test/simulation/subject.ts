import type { Call } from '../../src/service/transport.js';
import type { Scenario } from './scenario.js';

/** What a request is about. */
export type Subject =
  /** Rows of the input, by their names; of a kind that a job has one step of. */
  | { readonly type: 'rows'; readonly kind: string; readonly names: readonly string[] }
  /** Something that a step of this kind makes before its first row. */
  | { readonly type: 'thing'; readonly kind: string; readonly what: string }
  /** A change by the step without rows of this number. */
  | { readonly type: 'action'; readonly step: number }
  /** It changes nothing. */
  | { readonly type: 'read' };

const READ: Subject = { type: 'read' };

/** Tells what a request is about, from its method, path and body alone. */
export class Subjects {
  readonly #scenario: Scenario;
  readonly #nameOf: ReadonlyMap<string, string>;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    const planned = scenario.rows.filter(({ fate }) => fate === 'planned');
    this.#nameOf = new Map(planned.map(({ name, mobile }) => [mobile, name]));
  }

  of({ method, path, body }: Call): Subject {
    if (method === 'GET') return this.#ofRead(path);
    const content = JSON.parse(body?.toString('utf8') ?? 'null');
    if (path.endsWith('/messages/batch')) {
      const { messages } = content as { messages: { destination: string }[] };
      return this.#ofRows('sms', ...messages.map(({ destination }) => this.#nameOf.get(destination) ?? ''));
    }
    if (path.endsWith('/contacts')) return this.#ofRows('contacts', content.firstName);
    if (path.endsWith('/sessions')) {
      return this.#ofRows('verification.start', this.#nameOf.get(content.destination) ?? '');
    }
    if (path.endsWith('/conversations')) return this.#ofRows('conversations', content.user.name);
    if (path.endsWith('/webhooks')) return { type: 'thing', kind: 'conversations', what: 'webhook' };
    if (path.endsWith('/channels')) return { type: 'thing', kind: 'conversations', what: 'channel' };
    if (path.includes('/campaigns/')) return this.#ofAction((step) => 'set' in step && step.set === content.status);
    return this.#ofAction(({ kind }) => kind === 'chat');
  }

  #ofRead(path: string): Subject {
    const [, name] = /\/sessions\/s-(\w+)\?code=/.exec(path) ?? [];
    return name === undefined ? READ : this.#ofRows('verification.check', name);
  }

  #ofRows(kind: string, ...names: string[]): Subject {
    return { type: 'rows', kind, names };
  }

  #ofAction(isIt: (step: Scenario['job']['steps'][number]) => boolean): Subject {
    return { type: 'action', step: this.#scenario.job.steps.findIndex(isIt) + 1 };
  }
}

/** Its rows as `<kind> <name>`, as all else names them. */
export function rowsOf(subject: Subject): string[] {
  return subject.type === 'rows' ? subject.names.map((name) => `${subject.kind} ${name}`) : [];
}
