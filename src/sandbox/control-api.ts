import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { UserError } from '../domain/errors.js';
import { answerError, ERROR_CODE } from './http-answer.js';
import { parseControlBody, type SandboxParts } from './sandbox-server.js';

/** `/_sandbox/…`: controls the sandbox itself. Needs no key, has no faults, is not in the request log. */
export function addControl(app: FastifyInstance, parts: SandboxParts, clearLedger: () => Promise<void>): void {
  const { clock, ledger, requests, faults } = parts;
  app.get('/_sandbox', async () => ({
    accepted: ledger.counts,
    requests: requests.entries.length,
    faults: faults.list().length,
  }));

  app.get('/_sandbox/ledger', (_, reply) =>
    reply.type('application/x-ndjson').send(Readable.from(toNdjson(ledger.readPages()))),
  );
  app.delete('/_sandbox/ledger', async (_, reply) => {
    await clearLedger();
    return reply.code(204).send();
  });

  app.get('/_sandbox/requests', (_, reply) =>
    reply.type('application/x-ndjson').send(Readable.from(toNdjson(inPages([...requests.entries])))),
  );
  app.delete('/_sandbox/requests', (_, reply) => {
    requests.clear();
    return reply.code(204).send();
  });

  app.get('/_sandbox/faults', async () => faults.list());
  app.post('/_sandbox/faults', (request, reply) => {
    try {
      faults.set(parseFaultsBody(request.body));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const refusal = { code: ERROR_CODE.invalidParameter, message: error.message };
      return reply.code(400).send(answerError(400, refusal, clock.now()).body);
    }
    return reply.send(faults.list());
  });
  app.delete('/_sandbox/faults', (_, reply) => {
    faults.set([]);
    return reply.code(204).send();
  });
}

function parseFaultsBody(body: unknown): unknown {
  const written = parseControlBody(body);
  if (written !== undefined) return written;
  throw new UserError('bad-flag', 'Cannot set faults: the body is not JSON, expected a fault or a list of them');
}

async function* toNdjson(pages: AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>) {
  for await (const page of pages) {
    yield Buffer.from(page.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  }
}

function* inPages<T>(entries: readonly T[]): Generator<T[]> {
  for (let start = 0; start < entries.length; start += 1000) yield entries.slice(start, start + 1000);
}
