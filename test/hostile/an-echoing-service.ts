import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { byArea } from '../../src/domain/areas.js';
import { openHere } from '../e2e/opened.js';
import { CREDENTIALS, NUMBER, STEERING } from './canaries.js';

/** How the service answers everything. */
export const MANNERS = [
  ...(['takes', 'rejects each row', 'refuses', 'refuses the key', 'forbids', 'redirects', 'turns away'] as const),
  ...(['is down', 'fails', 'answers with a page', 'answers with nothing that was sent', 'breaks off'] as const),
  'sends a header that is too long',
] as const;
export type Manner = (typeof MANNERS)[number];

/** One for each way in which a single call may end. */
export const ENDS: readonly Manner[] = [
  ...(['takes', 'refuses', 'refuses the key', 'redirects', 'turns away', 'answers with a page'] as const),
];

const STATUS_OF: Partial<Record<Manner, number>> = {
  ...{ refuses: 400, 'refuses the key': 401, forbids: 403, redirects: 302 },
  ...{ 'turns away': 429, 'is down': 503, fails: 500 },
};

/**
 * Stands between us and a service that repeats whatever it gets, as proxies and debug pages do: the headers with the key,
 * a number and what steers a terminal, in every text, code, id and header of its answers. Gives the `service` of a job
 * that calls it.
 */
export async function startEchoingService(manner: Manner) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const echo = `${listHeaders(request)} ${NUMBER} ${STEERING}`;
    answer(manner, { request, response, echo, body: Buffer.concat(chunks).toString() });
  });
  const origin = await openHere(server);
  const bases = byArea(() => origin);
  return { bases, service: { account: 'acme', credentials: CREDENTIALS, bases, giveUpAfterSeconds: 0 } };
}

type Asked = Readonly<{ request: IncomingMessage; response: ServerResponse; echo: string; body: string }>;

function answer(manner: Manner, asked: Asked): void {
  const { request, response, echo } = asked;
  // Header values are Latin-1 without control characters.
  const header = encodeURI(`https://evil.example/${echo}`);
  const key = listHeaders(request);
  const headers = { 'x-echo': key, location: `${header}?${key}`, 'retry-after': '3600' };
  const send = (status: number, body: string) => response.writeHead(status, headers).end(body);
  if (manner === 'breaks off') {
    response.writeHead(200, { ...headers, 'content-length': '9999' }).write(echo);
    response.socket?.end();
  } else if (manner === 'sends a header that is too long') {
    response.writeHead(200, { ...headers, 'x-long': key.padEnd(40_000, 'x') }).end('{}');
  } else if (manner === 'answers with a page') send(200, `<html>${echo}</html>`);
  else if (manner === 'answers with nothing that was sent')
    send(200, JSON.stringify({ [echo]: echo, id: echo, messages: [echo] }));
  else if (manner === 'takes' || manner === 'rejects each row') {
    const [status, body] = accept(asked, manner === 'takes');
    send(status, JSON.stringify(body));
  } else send(STATUS_OF[manner] ?? 400, JSON.stringify(anError(echo)));
}

/** The error bodies of all areas in one. */
function anError(echo: string): object {
  const fault = { faultstring: echo, detail: { errorcode: echo } };
  return { code: echo, message: echo, errorId: echo, errors: [{ code: echo, message: echo }], fault };
}

/** A good answer of the endpoint, with the echo wherever it may have a text of its own. */
function accept({ request, echo, body }: Asked, isTaken: boolean): [number, unknown] {
  const path = request.url ?? '';
  const sent = body.startsWith('{') ? JSON.parse(body) : {};
  if (path.includes('/messages/batch')) {
    const messages = sent.messages.map(({ clientMessageId, destination }: Record<string, string>) => ({
      umid: echo,
      clientMessageId,
      destination,
      status: { code: isTaken ? 'QUEUED' : 'REJECTED', description: echo },
    }));
    return [200, { batchId: echo, clientBatchId: sent.clientBatchId, acceptedCount: messages.length, messages }];
  }
  if (!isTaken) return [400, { code: echo, message: echo }];
  if (path.includes('/contacts')) return [201, { id: echo, addresses: sent.addresses, firstName: echo }];
  if (path.includes('/sessions')) {
    const destination = sent.destination?.replace('+', '') ?? '6591234567';
    const uid = request.method === 'POST' ? echo : /sessions\/([^/?]+)/.exec(path)?.[1];
    return [200, { uid, status: request.method === 'POST' ? echo : 'VERIFIED', destination, attempt: 1 }];
  }
  if (path.includes('/stats/')) {
    const campaign = { 'campaign-id': 101, 'campaign-name': echo, status: 2, 'dynamic-campaign': 'Y', enabled: 'Y' };
    return [200, { campaign: { ...campaign, [echo]: echo } }];
  }
  if (path.includes('/tstats/')) return [200, { message: echo }];
  if (path.includes('/chat/api')) {
    const message = { id: echo, parsed: echo, author: { id: echo, name: echo, email: echo, avatarUrl: echo } };
    return [200, request.method === 'GET' ? [message] : { ...message, messageRaw: echo }];
  }
  return [200, { id: echo, conversationId: echo, name: sent.name, state: echo }];
}

function listHeaders({ headers }: IncomingMessage): string {
  return [headers.authorization, headers['x-api-key']].filter((value) => value !== undefined).join(' ');
}
