import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { UserError } from '../domain/errors.js';
import { systemClock } from '../ports/clock.js';
import { answerRefused, CODED_ERRORS } from './http-answer.js';
import { parseControlBody, type SandboxParts } from './sandbox-server.js';

/** Most seconds to wait for an absent receiver. */
const SETTLE_SECONDS = { usual: 30, most: 600 };

/** `/_sandbox/…`: controls the sandbox itself. Needs no key, has no faults, is not in the request log. */
export function addControl(app: FastifyInstance, parts: SandboxParts): void {
  const { clock, ledger, requests, faults, webhooks } = parts;
  const refuse = (reply: FastifyReply, message: string) =>
    reply.code(400).send(answerRefused({ status: 400, message }, CODED_ERRORS, clock.now()).body);

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
    const written = parseControlBody(request.body);
    if (written === undefined) {
      return refuse(reply, 'Cannot set faults: the body is not JSON, expected a fault or a list of them');
    }
    try {
      faults.set(written);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return refuse(reply, error.message);
    }
    return reply.send(faults.list());
  });
  app.delete('/_sandbox/faults', (_, reply) => {
    faults.set([]);
    return reply.code(204).send();
  });

  // How many POSTs came to what. With `?until=settled` the answer waits until nothing is pending, for 30 s or `&seconds=`:
  // where something is pending then, it is a 503 with the same body.
  app.get<{ Querystring: { until?: string; seconds?: string } }>('/_sandbox/webhooks', async ({ query }, reply) => {
    const { until, seconds } = query;
    if (until !== 'settled') return webhooks.counts;
    const limit = seconds === undefined ? SETTLE_SECONDS.usual : Number(seconds);
    if (!(limit > 0 && limit <= SETTLE_SECONDS.most)) {
      return refuse(reply, `Cannot wait: seconds is not a number above 0 and up to ${SETTLE_SECONDS.most}`);
    }
    const isOver = new AbortController();
    // Real time, even if the sandbox runs on a simulated clock.
    await Promise.race([webhooks.settle(), systemClock.sleep(limit * 1000, isOver.signal)]);
    isOver.abort();
    const { counts } = webhooks;
    return reply.code(counts.pending === 0 ? 200 : 503).send(counts);
  });
}

type Pages = AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>;

function sendNdjson(reply: FastifyReply, pages: Pages): FastifyReply {
  return reply.type('application/x-ndjson').send(Readable.from(toNdjson(pages)));
}

async function* toNdjson(pages: Pages): AsyncGenerator<Buffer> {
  for await (const page of pages) yield Buffer.from(page.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}
