import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request as it came over the wire. */
export interface Recorded {
  readonly method: string | undefined;
  /** Path and query. */
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface RecorderAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A plain HTTP server that knows nothing of the service: it keeps what it gets, and answers as it is set to; null: never. */
export async function aRecorder(answer: RecorderAnswer | null = {}): Promise<{
  base: string;
  requests: Recorded[];
}> {
  const requests: Recorded[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url } = request;
    requests.push({ method, url, headers: request.headers, body: Buffer.concat(chunks) });
    if (answer === null) return;
    const { status = 200, headers = {}, body } = answer;
    response.writeHead(status, headers).end(body === undefined ? undefined : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
