import { join } from 'node:path';
import { type Area, byArea } from '../domain/areas.js';
import { UserError } from '../domain/errors.js';
import { trimEndOf } from '../domain/text.js';
import type { AreaCredentials, Job, JobService, SecretSource } from '../job/job.js';
import { areasOf } from '../kinds/kinds.js';
import { watchTransport } from '../run/run-events.js';
import { createAuthorize, listSecrets, type ServiceSecrets, scrubAnswers } from '../service/service-secrets.js';
import { type Files, nodeFiles } from '../storage/files.js';
import type { Context } from './context.js';
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
  const flushThenClose = async () => {
    await flushWebhooks(LAST_EVENTS_MS);
    await close();
  };
  return { bases: byArea(() => origin), secrets, close: flushThenClose };
}

export function assertSafeEnvironment({ env }: Pick<Terminal, 'env'>): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return;
  throw new UserError(
    'unsafe-environment',
    'Cannot start: NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of certificates, expected it unset',
    { hint: 'Unset it; for a certificate of your own use NODE_EXTRA_CA_CERTS.' },
  );
}

/**
 * Reads the secrets of some areas, and has them kept out of every log line; refuses with 'bad-credentials' what is
 * missing. `isReadOnly`: the Action Request Token is not read, since nothing will be changed.
 */
export async function readSecrets(
  credentials: AreaCredentials,
  areas: readonly Area[],
  context: Context,
  isReadOnly = false,
): Promise<ServiceSecrets> {
  const found: { -readonly [Key in keyof ServiceSecrets]: ServiceSecrets[Key] } = {};
  for (const area of areas) {
    if (area === 'campaign') {
      const { username, dataToken, actionToken } = credentials.campaign ?? refuse(area);
      found.campaign = {
        username,
        dataToken: await keepSecret(dataToken, 'the Data Request Token of campaign', context),
        actionToken: isReadOnly ? undefined : actionToken && (await keepSecret(actionToken, ACTION_TOKEN, context)),
      };
    } else
      found[area] = await keepSecret((credentials[area] ?? refuse(area)).apiKey, `the API key of ${area}`, context);
  }
  for (const secret of listSecrets(found)) context.secrets.keep(secret);
  return found;
}

const ACTION_TOKEN = 'the Action Request Token of campaign';

function refuse(area: Area): never {
  const form = area === 'campaign' ? '{ username: …, dataToken: { env: NAME } }' : '{ apiKey: { env: NAME } }';
  throw new UserError('bad-credentials', `Cannot run the job: it has no credentials for ${area}, expected them`, {
    hint: `Write service.credentials: { ${area}: ${form} } into the job.`,
  });
}

/** The address of the database, which holds a password. */
export function readAddress(source: SecretSource, context: Context): Promise<string> {
  return keepSecret(source, 'the address of the database', context);
}

/** Reads a secret, and has it kept out of all that is printed. `what` names it in errors. */
export async function keepSecret(source: SecretSource, what: string, { env, terminal, secrets }: Context) {
  return secrets.keep(await readSecret(source, { env: terminal.env, readFile: env.files.readText }, what));
}

/** Longer than any key; a larger file is the wrong file. */
const MAX_LENGTH = 8192;

/**
 * Reads a secret, without the line end that editors put after it. `what` names it in errors: "the API key of sms".
 * Refuses with `bad-credentials` what is missing, empty, or not one line of printable ASCII; the error names the variable or the file, never the value.
 */
export async function readSecret(
  source: SecretSource,
  { env, readFile }: { readonly env: Terminal['env']; readonly readFile: Files['readText'] },
  what: string,
): Promise<string> {
  const where = 'env' in source ? `the environment variable ${source.env}` : `the file ${source.file}`;
  const refuse = (so: string, expected: string, hint: string) =>
    new UserError('bad-credentials', `Cannot read ${what}: ${where} ${so}, expected ${expected}`, {
      hint: `Nothing was sent. ${hint}`,
    });

  let text: string | undefined;
  if ('env' in source) {
    text = Object.hasOwn(env, source.env) ? env[source.env] : undefined;
  } else {
    try {
      text = await readFile(source.file);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
      throw refuse(`cannot be read (${code})`, 'a readable file', 'Check the path and its permissions.');
    }
  }
  if (text === undefined) {
    const [so, hint] =
      'env' in source
        ? ['is not set', 'Set it before you start Volley.']
        : ['does not exist', 'Check the path; in a job it is relative to the job file.'];
    throw refuse(so, `it to contain ${what}`, hint);
  }

  const secret = trimEndOf(text, '\r\n');
  if (secret === '') throw refuse('is empty', `it to contain ${what}`, 'Put it there.');
  if (secret.length > MAX_LENGTH || !/^[\x21-\x7e]+$/.test(secret)) {
    const hint = 'Look for spaces, quotes from a word processor, a byte order mark at the start, or a second line.';
    throw refuse('contains spaces, control characters or non-ASCII letters, or is very long', 'only the secret', hint);
  }
  return secret;
}
