import { createServer, type IncomingHttpHeaders } from 'node:http';
import { openHere } from '../e2e/opened.js';

/** A request as it came over the wire. */
export interface Recorded {
  readonly method: string | undefined;
  /** Path and query. */
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type RecorderAnswer = Readonly<{ status?: number; headers?: Readonly<Record<string, string>>; body?: unknown }>;

/** A plain HTTP server that knows nothing of the service: it keeps what it gets, and answers as it is set to; null: never. */
export async function aRecorder(answer: RecorderAnswer | null = {}): Promise<{
  base: string;
  requests: Recorded[];
  /** Of them, as text. */
  bodies: string[];
}> {
  const requests: Recorded[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url } = request;
    const bytes = Buffer.concat(chunks);
    requests.push({ method, url, headers: request.headers, body: bytes });
    bodies.push(bytes.toString());
    if (answer === null) return;
    const { status = 200, headers = {}, body } = answer;
    response.writeHead(status, headers).end(body === undefined ? undefined : JSON.stringify(body));
  });
  return { base: await openHere(server), requests, bodies };
}
