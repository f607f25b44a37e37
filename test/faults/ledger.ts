import { type Arrived, createTaken, EXAMPLES, type HonestAnswer } from '../kinds/examples.js';
import { anAnswer } from '../service/raw-server.js';

/** What the service did, which is the judge of every run; it answers honestly. */
export class Ledger {
  readonly #taken = createTaken();
  /** Of each row, by its number or its session: the ids that it was given, one each time it was processed. */
  readonly done = this.#taken.done;
  /** Webhooks and channels that were made. */
  readonly made: string[] = [];

  process(request: Arrived): HonestAnswer {
    for (const example of Object.values(EXAMPLES)) {
      const answer = example.answer(request, this.#taken);
      if (answer !== undefined) return answer;
    }
    const { path, body } = request;
    this.made.push(path.split('/').at(-1) ?? '');
    return { status: 200, headers: {}, body: { id: this.#taken.newId(), name: (body as { name: string }).name } };
  }
}

/** As it goes over the wire. */
export function writeAnswer(
  { status, headers, body }: HonestAnswer,
  more: Readonly<Record<string, string>> = {},
): string {
  return anAnswer(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers, ...more });
}
