/**
 * The service as far as the bench of rates needs it, a bare node:http server that notes when the headers of each request
 * are there and accepts everything. Its first line and what it tells under `/_sandbox` are those of the sandbox.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants, setPriority } from 'node:os';

// Where it shares the processors with what it watches, requests would wait to be noted, and seem to come together.
try {
  setPriority(constants.priority.PRIORITY_HIGHEST);
} catch {
  // Not everybody may.
}

/** How long an answer takes. */
const DELAY_MS = Number(process.argv[2] ?? 0);

const arrivals: { atMs: number; messages: number }[] = [];

const server = createServer((request, response) => {
  const atMs = performance.now();
  if (request.url === '/_sandbox/requests') return void response.end(arrivals.map(toLine).join(''));
  const arrival = { atMs, messages: 1 };
  arrivals.push(arrival);
  void accept(request, response).then((messages) => {
    arrival.messages = messages;
  });
});
server.listen(0, '127.0.0.1', () => {
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stdout.write(toLine({ origin, credentials: { apiKey: 'any' } }));
});

/** Returns how many messages, or contacts, the request brought. */
async function accept(request: IncomingMessage, response: ServerResponse): Promise<number> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const body = JSON.parse(Buffer.concat(pieces).toString('utf8'));
  if (DELAY_MS > 0) await new Promise((resolve) => setTimeout(resolve, DELAY_MS));
  const isBatch = Array.isArray(body.messages);
  const answer = isBatch ? acceptBatch(body) : { id: arrivals.length, addresses: body.addresses };
  response.writeHead(isBatch ? 200 : 201, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer));
  return isBatch ? body.messages.length : 1;
}

function acceptBatch({ clientBatchId, messages }: { clientBatchId: string; messages: { clientMessageId: string }[] }) {
  return {
    batchId: `batch-${arrivals.length}`,
    clientBatchId,
    acceptedCount: messages.length,
    rejectedCount: 0,
    messages: messages.map(({ clientMessageId }, index) => ({
      umid: `umid-${arrivals.length}-${index}`,
      clientMessageId,
      status: { code: 'QUEUED', description: 'SMS is accepted and queued for processing' },
    })),
  };
}

function toLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
