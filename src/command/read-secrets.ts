import type { Area } from '../domain/areas.js';
import { UserError } from '../domain/errors.js';
import type { AreaCredentials, ClusterSettings, SecretSource } from '../job/job.js';
import { readSecret } from '../job/secrets.js';
import { listSecrets, type ServiceSecrets } from '../service/authorize.js';
import { nodeFiles } from '../storage/files.js';
import type { SecretKeeper, Terminal } from './terminal.js';

/**
 * Reads the secrets of some areas, and has them kept out of every log line; refuses with 'bad-credentials' what is
 * missing. `isReadOnly`: the Action Request Token is not read, since nothing will be changed.
 */
export async function readSecrets(
  credentials: AreaCredentials,
  areas: readonly Area[],
  { terminal, secrets, isReadOnly = false }: { terminal: Terminal; secrets: SecretKeeper; isReadOnly?: boolean },
): Promise<ServiceSecrets> {
  const read = (source: SecretSource, what: string) =>
    readSecret(source, { env: terminal.env, readFile: nodeFiles.readText }, what);
  const found: { -readonly [Key in keyof ServiceSecrets]: ServiceSecrets[Key] } = {};
  for (const area of areas) {
    if (area === 'campaign') {
      const { username, dataToken, actionToken } = credentials.campaign ?? refuse(area);
      found.campaign = {
        username,
        dataToken: await read(dataToken, 'the Data Request Token of campaign'),
        actionToken: isReadOnly ? undefined : actionToken && (await read(actionToken, ACTION_TOKEN)),
      };
    } else found[area] = await read((credentials[area] ?? refuse(area)).apiKey, `the API key of ${area}`);
  }
  for (const secret of listSecrets(found)) secrets.keep(secret);
  return found;
}

const ACTION_TOKEN = 'the Action Request Token of campaign';

function refuse(area: Area): never {
  const form = area === 'campaign' ? '{ username: …, dataToken: { env: NAME } }' : '{ apiKey: { env: NAME } }';
  throw new UserError('bad-credentials', `Cannot run the job: it has no credentials for ${area}, expected them`, {
    hint: `Write service.credentials: { ${area}: ${form} } into the job.`,
  });
}

/** The flags of verbs without a job. */
export const DATABASE_FLAGS = { flags: '--database-env or --database-file' };

/** The address of the database, which holds a password. `elsewhere`: the flags of the command, if it has some. */
export function readAddress(
  source: ClusterSettings['database'],
  { env }: Pick<Terminal, 'env'>,
  elsewhere: Partial<typeof DATABASE_FLAGS> = {},
): Promise<string> {
  return readSecret(source, { env, readFile: nodeFiles.readText, ...elsewhere }, 'the address of the database');
}
