import type { Area } from '../domain/areas.js';
import { UserError } from '../domain/errors.js';
import type { AreaCredentials, SecretSource } from '../job/job.js';
import { readSecret } from '../job/secrets.js';
import { listSecrets, type ServiceSecrets } from '../service/service-secrets.js';
import type { Context } from './context.js';

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

/** The address of the database, which holds a password. `flags`: of the command, that name another place. */
export function readAddress(source: SecretSource, context: Context, flags?: string): Promise<string> {
  return keepSecret(source, 'the address of the database', context, flags);
}

/** Reads a secret, and has it kept out of all that is printed. `what` names it in errors. */
export async function keepSecret(
  source: SecretSource,
  what: string,
  { env, terminal, secrets }: Context,
  flags?: string,
): Promise<string> {
  const from = { env: terminal.env, readFile: env.files.readText, ...(flags !== undefined && { flags }) };
  return secrets.keep(await readSecret(source, from, what));
}
