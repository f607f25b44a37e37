import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}

/** A status, a connection that is reset, or silence. */
export type Behaviour = number | 'reset' | 'hang';

/** Someone's webhook on a local port: keeps all that arrives, and answers as it is set to, or else 200. */
export class Receiver {
  readonly received: Received[] = [];
  /** Questions of the gateway whether someone listens; each is answered 200, and is not among `received`. */
  readonly checks: Received[] = [];
  mostAtOnce = 0;
  readonly #behave: (received: Received, place: number) => Behaviour | Promise<Behaviour>;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #atOnce = 0;
  #waiting: { count: number; tell: () => void }[] = [];

  constructor(behave: (received: Received, place: number) => Behaviour | Promise<Behaviour>) {
    this.#behave = behave;
  }

  listen(port = 0): Promise<void> {
    return new Promise((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(path = '/hook'): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** Resolves when so many have arrived. */
  async arrival(count: number): Promise<void> {
    if (this.received.length < count) await new Promise<void>((tell) => this.#waiting.push({ count, tell }));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { url: path = '', headers } = request;
    const received = { path, headers, body: JSON.parse(Buffer.concat(chunks).toString()) };
    if (received.body?.eventType === 'WEB_HOOK_VERIFY') {
      this.checks.push(received);
      response.writeHead(200).end();
      return;
    }
    this.received.push(received);
    for (const { count, tell } of this.#waiting) if (count <= this.received.length) tell();
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    const behaviour = await this.#behave(received, this.received.length - 1);
    this.#atOnce -= 1;
    if (behaviour === 'reset') request.socket.resetAndDestroy();
    else if (behaviour !== 'hang') response.writeHead(behaviour, { location: '/elsewhere' }).end('{}');
  }
}

/** A receiver of the test's own, gone when the test is over. `behave` gets what arrived and its place, from 0. */
export async function aReceiver(
  behave: (received: Received, place: number) => Behaviour | Promise<Behaviour> = () => 200,
): Promise<Receiver> {
  const receiver = new Receiver(behave);
  await receiver.listen();
  onTestFinished(() => receiver.close());
  return receiver;
}

/** An address of this machine at which no one listens. */
export const DEAF_URL = 'http://127.0.0.1:9/hook';
