import { nodeFiles } from '../files.js';
import type { Job } from '../job/job.js';
import { loadJob } from '../job/load.js';
import { readSecret } from '../job/secrets.js';
import { ProblemList } from '../plan/problems.js';
import { kindOf } from '../steps/table.js';
import { printResult } from './print.js';
import { escapeText, type Terminal } from './terminal.js';

/** `volley check JOB`: the job file, its secrets and whether its files are there. Reads no row and sends nothing. */
export async function checkJob(flags: { job: string; json: boolean | undefined }, terminal: Terminal): Promise<number> {
  const job = await loadJob(flags.job);
  const { listInputs } = await import('../read/inputs.js');
  const problems = new ProblemList('use the job');
  const steps: { number: number; kind: string; files: string[] }[] = [];
  for (const [index, step] of job.steps.entries()) {
    const lists = [step.input.files, ...(step.kind === 'sms' && step.suppress ? [step.suppress.files] : [])];
    const files: string[] = [];
    for (const patterns of lists) {
      const named = patterns.filter((pattern) => pattern !== '-');
      const found = await problems.gather(`steps[${index}]`, () => listInputs(named, job.directory));
      files.push(...(found ?? []).map((file) => file.shown));
    }
    steps.push({ number: index + 1, kind: step.kind, files });
  }
  await checkSecrets(job, terminal, problems);
  problems.throwIfAny();
  const lines = steps.map(
    ({ number, kind, files }) => `  step ${number} (${kind}): ${files.map(escapeText).join(', ')}\n`,
  );
  const text = `Job ${job.name} can be planned.\n${lines.join('')}`;
  await printResult(terminal, flags, { json: { job: job.name, steps }, text });
  return 0;
}

async function checkSecrets(job: Job, { env }: Terminal, problems: ProblemList): Promise<void> {
  if (job.service.sandbox) return;
  for (const area of new Set(job.steps.map((step) => kindOf(step).area))) {
    const source = job.service.credentials[area]?.apiKey;
    const where = `service.credentials.${area}`;
    if (source === undefined)
      problems.add({ where, message: 'there is no API key, expected { env: NAME } or { file: PATH }' });
    else
      await problems.gather(where, () =>
        readSecret(source, { env, readFile: nodeFiles.readText }, `the API key of ${area}`),
      );
  }
}
