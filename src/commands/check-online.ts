import { createContext } from '../command/context.js';
import type { Host } from '../command/deps.js';
import { callService } from '../command/single-call.js';
import type { Area } from '../domain/areas.js';
import { ServiceError, UserError } from '../domain/errors.js';
import type { Job, SecretSource } from '../job/job.js';
import { areasOf } from '../kinds/kinds.js';
import type { ProblemList } from '../plan/problems.js';
import { tryKey } from '../service/try-key.js';

/** `check --online`: tries the key of each area that the job's steps use against the service. Sends nothing. Returns what it found. */
export async function checkOnline(
  job: Job,
  { file, host, problems }: { file: string; host: Host; problems: ProblemList },
): Promise<string[]> {
  if (job.service.sandbox) return ['the sandbox needs no key: there was nothing to try online'];
  const taken: string[] = [];
  for (const area of areasOf(job.steps)) {
    await problems.gather(`service.credentials.${area}`, async () => {
      await callService(createContext(host), { job: file, area }, ({ call }) =>
        tryKey(area, job.steps, call).catch((error: unknown) => {
          throw explain(error, area, job);
        }),
      );
      taken.push(`${area}: the service takes ${nameKey(area)}; nothing was sent`);
    });
  }
  return taken;
}

function nameKey(area: Area): string {
  return area === 'campaign' ? 'user name and Data Request Token' : 'the API key';
}

function explain(error: unknown, area: Area, { service: { credentials } }: Job): unknown {
  if (!(error instanceof ServiceError)) return error;
  const source = area === 'campaign' ? credentials.campaign?.dataToken : credentials[area]?.apiKey;
  const isRefused = error.code === 'unauthorized' && source !== undefined;
  const hint = isRefused
    ? `It comes from ${describeSource(source)}. Check it, and service.account.`
    : (error.hint ?? '');
  return new UserError('bad-credentials', error.message, { hint });
}

function describeSource(source: SecretSource): string {
  return 'env' in source ? `the variable ${source.env}` : `the file ${source.file}`;
}
