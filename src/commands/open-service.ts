import { join } from 'node:path';
import type { Area } from '../domain.js';
import { UserError } from '../errors.js';
import { nodeFiles } from '../files.js';
import type { Job, ServiceSettings } from '../job/job.js';
import { readSecret } from '../job/secrets.js';
import type { Transport } from '../service/transport.js';
import { kindOf } from '../steps/table.js';
import { SANDBOX_DIRECTORY } from './sandbox-directory.js';
import type { SecretKeeper, Terminal } from './terminal.js';

/** The way to the service: addresses as they are now, the transport, and what each call carries. */
export interface OpenService {
  readonly settings: ServiceSettings;
  readonly transport: Transport;
  headersFor(area: Area): Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/**
 * Reads the secrets that the job's steps need, and starts the embedded sandbox where the job asks for it; its state is
 * kept in `<jobDirectory>/sandbox`. Refuses with UserError 'bad-credentials' before anything else is done.
 */
export async function openService(
  job: Job,
  context: { terminal: Terminal; secrets: SecretKeeper; jobDirectory: string },
): Promise<OpenService> {
  assertSafeEnvironment(context.terminal);
  const { createTransport } = await import('../service/transport.js');
  const areas = new Set(job.steps.map((step) => kindOf(step).area));
  const keys = new Map<Area, string>();
  if (!job.service.sandbox) {
    for (const area of areas) keys.set(area, context.secrets.keep(await readApiKey(job, area, context.terminal)));
  }
  const sandbox = job.service.sandbox ? await startEmbeddedSandbox(job.service, context.jobDirectory) : undefined;
  const transport = createTransport(job.service.timeouts);
  return {
    settings: sandbox === undefined ? job.service : { ...job.service, bases: sandbox.bases },
    transport,
    headersFor: (area) => ({
      'content-type': 'application/json',
      accept: 'application/json',
      authorization: `Bearer ${sandbox?.apiKey ?? keys.get(area) ?? ''}`,
    }),
    close: async () => {
      await transport.close();
      await sandbox?.close();
    },
  };
}

async function readApiKey(job: Job, area: Area, terminal: Terminal): Promise<string> {
  const credentials = job.service.credentials[area];
  if (credentials === undefined) {
    throw new UserError(
      'bad-credentials',
      `Cannot run the job: it has no credentials for ${area}, expected an API key`,
      {
        hint: `Write service.credentials: { ${area}: { apiKey: { env: NAME } } } into the job.`,
      },
    );
  }
  const deps = { env: terminal.env, readFile: nodeFiles.readText };
  return readSecret(credentials.apiKey, deps, `the API key of ${area}`);
}

async function startEmbeddedSandbox({ account, subAccountId }: ServiceSettings, jobDirectory: string) {
  const [{ startSandbox }, { TEST_CREDENTIALS }] = await Promise.all([
    import('../sandbox/sandbox.js'),
    import('../sandbox/credentials.js'),
  ]);
  const dataDirectory = join(jobDirectory, SANDBOX_DIRECTORY);
  await nodeFiles.makeDirectory(dataDirectory);
  const accounts = account === TEST_CREDENTIALS.account ? [] : [{ account, subAccountIds: [subAccountId] }];
  const { origin, credentials, close } = await startSandbox({ dataDirectory, accounts });
  return { bases: { sms: origin, contacts: origin, verification: origin }, apiKey: credentials.apiKey, close };
}

function assertSafeEnvironment({ env }: Terminal): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return;
  throw new UserError(
    'unsafe-environment',
    'Cannot start: NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of certificates',
    {
      hint: 'Unset it; for a certificate of your own use NODE_EXTRA_CA_CERTS.',
    },
  );
}
