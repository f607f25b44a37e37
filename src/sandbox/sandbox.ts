import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { UserError } from '../domain/errors.js';
import { refuseAddress } from '../domain/loopback.js';
import { type Clock, systemClock } from '../ports/clock.js';
import { type Files, nodeFiles } from '../storage/files.js';
import {
  createKeyring,
  DOCUMENTED_RATE_LIMITS,
  NO_RATE_LIMITS,
  type RateLimits,
  type SandboxAccount,
  TEST_CREDENTIALS,
} from './admission.js';
import { createCampaignArea } from './campaign.js';
import { createChatArea } from './chat.js';
import { createContactsArea } from './contacts.js';
import { type FaultInput, FaultSet } from './fault.js';
import { createGatewayArea } from './gateway/gateway.js';
import { answerRefused, CODED_ERRORS } from './http-answer.js';
import { createLedger, createMemoryLog, openFileLog } from './ledger.js';
import { createSandboxServer, parseControlBody, type RequestEntry, type SandboxParts } from './sandbox-server.js';
import { createSmsArea } from './sms/sms.js';
import { createVerificationArea } from './verification.js';
import { createWebhookSender } from './webhook-sender.js';

const HOST = '127.0.0.1';

export interface SandboxOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** 127.0.0.1 by default: nothing in the sandbox is protected. */
  readonly host?: string;
  /** Keeps ledger and state of the areas over restarts; without it all is in memory. One sandbox at a time may use a directory. */
  readonly dataDirectory?: string;
  /** By default 1,800 requests/s for each subaccount, 3,000/s for each address, 5/s for the chat key. Of others, those that are left out are none. */
  readonly rateLimits?: Partial<RateLimits>;
  /** Factor of the delays before a webhook is tried again: 1, the default, as the service has them; a test takes less. */
  readonly webhookRetryScale?: number;
  /** False, the default: receipts and events go to loopback addresses alone; the others are counted, and never tried. */
  readonly deliversOutside?: boolean;
  /** Accounts beside `acme`. */
  readonly accounts?: readonly SandboxAccount[];
  readonly faults?: readonly FaultInput[];
  readonly clock?: Clock;
  readonly files?: Files;
  /** UUIDs for batches and sessions; codes follow from them. */
  readonly newId?: () => string;
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/** Serves every area on one origin, as README.md beside this file describes. Sandboxes share nothing. */
export async function startSandbox(options: SandboxOptions = {}) {
  const { clock = systemClock, files = nodeFiles, newId = randomUUID, dataDirectory } = options;
  const { accounts = [], host = HOST, webhookRetryScale = 1, deliversOutside = false } = options;
  const faults = new FaultSet();
  faults.set(options.faults ?? []);
  const log = dataDirectory === undefined ? createMemoryLog() : await openFileLog(files, dataDirectory);
  const rateLimits = { ...NO_RATE_LIMITS, ...(options.rateLimits ?? DOCUMENTED_RATE_LIMITS) };
  const webhooks = createWebhookSender(clock, webhookRetryScale, deliversOutside);
  const areas = [
    createSmsArea(clock, newId, rateLimits),
    createContactsArea(),
    createVerificationArea(newId),
    createGatewayArea(newId),
    createCampaignArea(),
    createChatArea(newId, rateLimits.perChatKey),
  ];
  const ledger = createLedger(log, areas, webhooks);
  const closing = new AbortController();
  let app: FastifyInstance | undefined;
  const close = async () => {
    closing.abort();
    await webhooks.close();
    await app?.close();
    await ledger.close();
  };

  try {
    await ledger.open();
    const requests: RequestEntry[] = [];
    const keyring = createKeyring(accounts);
    const parts = { areas, clock, keyring, ledger, requests, faults, webhooks, closing: closing.signal, host };
    app = createSandboxServer(parts);
    addControl(app, parts);
    const origin = await app.listen({ port: options.port ?? 0, host }).catch((error) => {
      throw refuseAddress(error, 'start the sandbox');
    });
    return {
      /** `http://127.0.0.1:4010` */
      origin,
      credentials: TEST_CREDENTIALS,
      /** What had been accepted when the reading began, in order. */
      readLedger: () => ledger.read(),
      /** Every request that arrived, in order, faults and refusals included. */
      readRequests: (): Iterable<RequestEntry> => requests,
      /** Waits, up to a limit, until each due receipt and event has been tried. */
      flushWebhooks: async (withinMs: number) => {
        const flushed = new AbortController();
        await Promise.race([webhooks.rest(), clock.sleep(withinMs, flushed.signal)]);
        flushed.abort();
      },
      /** Replaces all faults; throws a UserError when one makes no sense. */
      setFaults: (written: readonly FaultInput[]) => faults.set(written),
      /** Forgets everything that was accepted; campaigns are what they were at first. */
      clearLedger: () => ledger.clear(),
      /** Ends all connections; what was accepted is on disk when it resolves. */
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** `/_sandbox/…`: controls the sandbox itself. Needs no key, has no faults, is not in the request log. */
function addControl(app: FastifyInstance, parts: SandboxParts): void {
  const { clock, ledger, requests, faults, webhooks } = parts;

  app.get('/_sandbox', async () => ({
    accepted: ledger.counts,
    requests: requests.length,
    faults: faults.list().length,
  }));

  app.get('/_sandbox/ledger', (_, reply) => sendNdjson(reply, ledger.readPages()));
  app.delete('/_sandbox/ledger', async (_, reply) => {
    await ledger.clear();
    return reply.code(204).send();
  });

  app.get('/_sandbox/requests', (_, reply) => sendNdjson(reply, [[...requests]]));
  app.delete('/_sandbox/requests', (_, reply) => {
    requests.length = 0;
    return reply.code(204).send();
  });

  app.get('/_sandbox/faults', async () => faults.list());
  app.post('/_sandbox/faults', (request, reply) => {
    try {
      faults.set(parseControlBody(request.body));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const refused = { status: 400, message: error.message };
      return reply.code(400).send(answerRefused(refused, CODED_ERRORS, clock.now()).body);
    }
    return reply.send(faults.list());
  });
  app.delete('/_sandbox/faults', (_, reply) => {
    faults.set([]);
    return reply.code(204).send();
  });

  // How many POSTs came to what.
  app.get('/_sandbox/webhooks', async () => webhooks.counts);
}

type Pages = AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>;

function sendNdjson(reply: FastifyReply, pages: Pages): FastifyReply {
  return reply.type('application/x-ndjson').send(Readable.from(toNdjson(pages)));
}

async function* toNdjson(pages: Pages): AsyncGenerator<Buffer> {
  for await (const page of pages) yield Buffer.from(page.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}
