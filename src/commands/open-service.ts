import { basename, dirname, extname, join, resolve } from 'node:path';
import type { z } from 'zod';
import type { Area } from '../domain.js';
import { UserError } from '../errors.js';
import { nodeFiles } from '../files.js';
import { explainIssues } from '../job/explain.js';
import { fillJob } from '../job/fill.js';
import type { Job, ServiceSettings } from '../job/job.js';
import { checkName } from '../job/job-name.js';
import { loadJob } from '../job/load.js';
import { findBrokenRules } from '../job/rules.js';
import { type CheckedJob, writtenJob } from '../job/schema.js';
import { readTree } from '../job/tree.js';
import { isMapping } from '../job/written-steps.js';
import { readYaml } from '../job/yaml.js';
import { type Authorize, createAuthorize, type ServiceSecrets } from '../service/authorize.js';
import type { Transport } from '../service/transport.js';
import { areasOf } from '../steps/table.js';
import { type Host, worldOf } from './deps.js';
import { readSecrets } from './read-secrets.js';
import { SANDBOX_DIRECTORY } from './sandbox-directory.js';
import type { SecretKeeper, Terminal } from './terminal.js';

/** The way to the service: addresses as they are now, the transport, and what authenticates each call. */
export interface OpenService {
  readonly settings: ServiceSettings;
  readonly transport: Transport;
  readonly authorize: Authorize;
  close(): Promise<void>;
}

/**
 * Reads the secrets of the areas, by default those that the job's steps use, and starts the embedded sandbox where the job
 * asks for it; its state is kept in `<jobDirectory>/sandbox`. Refuses with UserError 'bad-credentials' before anything else is done.
 */
export async function openService(
  job: Job,
  context: { host: Host; secrets: SecretKeeper; jobDirectory: string },
  { areas, isReadOnly }: { areas: readonly Area[]; isReadOnly: boolean } = {
    areas: areasOf(job.steps),
    isReadOnly: false,
  },
): Promise<OpenService> {
  assertSafeEnvironment(context.host);
  const createTransport = await worldOf(context.host).loadTransport();
  const { service } = job;
  const secrets = service.sandbox
    ? {}
    : await readSecrets(service.credentials, areas, { terminal: context.host, secrets: context.secrets, isReadOnly });
  const sandbox = service.sandbox ? await startEmbeddedSandbox(service, context.jobDirectory) : undefined;
  const transport = createTransport(service.timeouts);
  return {
    settings: sandbox === undefined ? service : { ...service, bases: sandbox.bases },
    transport,
    authorize: createAuthorize(sandbox?.secrets ?? secrets),
    close: async () => {
      await transport.close();
      await sandbox?.close();
    },
  };
}

/**
 * The job of a single call: its steps are not done, so they may be at fault, or left out. Refuses what is wrong in the rest
 * of the file as `loadJob` does; which access an area needs is the call's own matter.
 */
export async function loadServiceOf(path: string): Promise<Job> {
  let text = '';
  const readText = async (file: string) => {
    const found = await nodeFiles.readText(file);
    text = found ?? '';
    return found;
  };
  try {
    return { ...(await loadJob(path, { stat: nodeFiles.stat, readText })), steps: [] };
  } catch (error) {
    if (!(error instanceof UserError) || error.problems.length === 0) throw error;
    return readBesideSteps(text.replace(/^\uFEFF/, ''), path, error);
  }
}

const writtenBesideSteps = writtenJob.omit({ steps: true });

/** `refusal` has the problems of the whole file, with their places. */
function readBesideSteps(text: string, file: string, refusal: UserError): Job {
  const yaml = readYaml(text);
  if (yaml.findings !== undefined) throw refusal;
  const tree = readTree(yaml.root);
  if (!isMapping(tree.value)) throw refusal;
  const { steps: _steps, ...job } = tree.value;
  const name = basename(file, extname(file));
  const checked = writtenBesideSteps.safeParse(job);
  // A job of the sandbox needs no access.
  const anyAccess = { ...job, service: isMapping(job.service) ? { ...job.service, sandbox: true } : job.service };
  const findings = [
    ...tree.findings,
    ...findBrokenRules(anyAccess),
    ...checkName(job, name),
    ...(checked.success ? [] : explainIssues(checked.error as z.ZodError<CheckedJob>, tree)),
  ];
  if (checked.success && findings.length === 0) {
    return fillJob({ ...checked.data, steps: [] }, { name, directory: dirname(resolve(file)) });
  }
  const messages = new Set(findings.map(({ message }) => message));
  const problems = refusal.problems.filter(({ message }) => messages.has(message));
  const [first] = problems;
  if (first === undefined) throw refusal;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  throw new UserError(refusal.code, `Cannot use the job ${file}: ${first.message} (${first.where})${more}`, {
    hint: 'Nothing was sent. Mend the job file and try again.',
    problems,
  });
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
  const { apiKey, gatewayKey, chatKey, campaign } = credentials;
  const secrets: ServiceSecrets = {
    sms: apiKey,
    contacts: apiKey,
    verification: apiKey,
    gateway: gatewayKey,
    chat: chatKey,
    campaign,
  };
  const bases = {
    sms: origin,
    contacts: origin,
    verification: origin,
    gateway: origin,
    campaign: origin,
    chat: origin,
  };
  return { bases, secrets, close };
}

export function assertSafeEnvironment({ env }: Terminal): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return;
  throw new UserError(
    'unsafe-environment',
    'Cannot start: NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of certificates',
    {
      hint: 'Unset it; for a certificate of your own use NODE_EXTRA_CA_CERTS.',
    },
  );
}
