import { join } from 'node:path';
import { type Area, byArea } from '../domain/areas.js';
import { UserError } from '../domain/errors.js';
import type { Job, JobService } from '../job/job.js';
import { areasOf } from '../kinds/kinds.js';
import { watchTransport } from '../run/run-event.js';
import { createAuthorize, type ServiceSecrets, scrubAnswers } from '../service/service-secrets.js';
import { nodeFiles } from '../storage/files.js';
import type { Context } from './context.js';
import { readSecrets } from './read-secrets.js';
import { endSoon } from './signals.js';
import type { Terminal } from './terminal.js';
import { SANDBOX_DIRECTORY } from './with-job.js';

/** Access to the service: current addresses, the transport, and what authenticates each call. */
export type OpenService = Awaited<ReturnType<typeof openService>>;

/**
 * Reads the secrets of the areas, by default those that the job's steps use, and starts the embedded sandbox where the job
 * asks for it; its state is kept in `<jobDirectory>/sandbox`. Refuses with UserError 'bad-credentials' before anything else is done.
 */
export async function openService(
  context: Context,
  { service, steps }: Job,
  jobDirectory: string,
  { areas = areasOf(steps), isReadOnly = false }: { areas?: readonly Area[]; isReadOnly?: boolean } = {},
) {
  const { env, emit, terminal } = context;
  assertSafeEnvironment(terminal);
  const readAll = () => readSecrets(service.credentials, areas, context, isReadOnly);
  const secrets = service.sandbox ? {} : await endSoon(context, 'read the secrets', readAll);
  // Without a connection there is nothing to close, should the sandbox not start.
  const createTransport = await env.loadTransport();
  const transport = watchTransport(createTransport(service.timeouts), env.clock, emit);
  const sandbox = service.sandbox ? await startEmbeddedSandbox(service, jobDirectory) : undefined;
  return {
    settings: sandbox === undefined ? service : { ...service, bases: sandbox.bases },
    transport: scrubAnswers(transport, context.secrets.values),
    authorize: createAuthorize(sandbox?.secrets ?? secrets),
    close: async () => {
      await transport.close().finally(() => sandbox?.close());
    },
  };
}

/** How long due receipts and events are awaited at the end, so that a local listener gets them all. */
const LAST_EVENTS_MS = 5_000;

async function startEmbeddedSandbox({ account, accountId, subAccountId }: JobService, jobDirectory: string) {
  const { startSandbox } = await import('../sandbox/sandbox.js');
  const dataDirectory = join(jobDirectory, SANDBOX_DIRECTORY);
  await nodeFiles.makeDirectory(dataDirectory);
  const accounts = [{ account, accountId, subAccountIds: [subAccountId] }];
  const { origin, credentials, flushWebhooks, close } = await startSandbox({ dataDirectory, accounts });
  const { apiKey, gatewayKey, chatKey, campaign } = credentials;
  const secrets: ServiceSecrets = {
    sms: apiKey,
    contacts: apiKey,
    verification: apiKey,
    gateway: gatewayKey,
    chat: chatKey,
    campaign,
  };
  const bases = byArea(() => origin);
  const flushThenClose = async () => {
    await flushWebhooks(LAST_EVENTS_MS);
    await close();
  };
  return { bases, secrets, close: flushThenClose };
}

export function assertSafeEnvironment({ env }: Pick<Terminal, 'env'>): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return;
  throw new UserError(
    'unsafe-environment',
    'Cannot start: NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of certificates, expected it unset',
    { hint: 'Unset it; for a certificate of your own use NODE_EXTRA_CA_CERTS.' },
  );
}
