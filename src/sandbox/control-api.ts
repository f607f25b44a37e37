import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { UserError } from '../domain/errors.js';
import { answerRefused, CODED_ERRORS } from './http-answer.js';
import { parseControlBody, type SandboxParts } from './sandbox-server.js';

/** `/_sandbox/…`: controls the sandbox itself. Needs no key, has no faults, is not in the request log. */
export function addControl(app: FastifyInstance, parts: SandboxParts): void {
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
