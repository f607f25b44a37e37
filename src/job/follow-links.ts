import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

const MAX_LINKS = 40;
/** Kubernetes shows a file of a ConfigMap as a link into this directory, itself a link whose target changes with each version. */
const OF_A_CONFIG_MAP = '..data/';

/**
 * Resolves links: a job has one registry, whatever path it was called by. Links of a ConfigMap are not followed, as
 * the file's own place changes with each version of it.
 */
export async function followLinks(path: string): Promise<string> {
  let file = resolve(path);
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const target = await readlink(file).catch(() => undefined);
    if (target === undefined || target.startsWith(OF_A_CONFIG_MAP)) break;
    file = resolve(dirname(file), target);
  }
  const directory = await realpath(dirname(file)).catch(() => dirname(file));
  return join(directory, basename(file));
}
