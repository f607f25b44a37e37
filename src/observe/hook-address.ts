import { envOf, type Host } from '../command/deps.js';
import { UserError } from '../domain/errors.js';
import type { NotifySettings } from '../job/job.js';
import { notifyAddress } from '../job/schema/notify.js';
import { readSecret } from '../job/secrets.js';

/** Where `notify.url` posts to. Refuses a secret that is missing, or that holds something else; the error never shows it. */
export async function readHookAddress(url: NotifySettings['url'], host: Host): Promise<string> {
  if (typeof url === 'string') return url;
  const { files } = envOf(host);
  const address = await readSecret(url, { env: host.env, readFile: files.readText }, 'the address of notify.url');
  if (notifyAddress.safeParse(address).success) return address;
  throw new UserError('bad-credentials', 'it is no address to post to, expected one that begins with https://', {
    hint: 'Beyond this machine it must be https, without user name and password.',
  });
}
