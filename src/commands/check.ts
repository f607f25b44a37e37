import { isRowStep, type Job } from '../job/job.js';
import { loadJob } from '../job/load.js';
import { ProblemList } from '../plan/problems.js';
import { areasOf } from '../steps/table.js';
import { printResult } from './print.js';
import { readSecrets } from './read-secrets.js';
import { escapeText, SecretKeeper, type Terminal } from './terminal.js';

/** `volley check JOB`: the job file, its secrets and whether its files are there. Reads no row and sends nothing. */
export async function checkJob(flags: { job: string; json: boolean | undefined }, terminal: Terminal): Promise<number> {
  const job = await loadJob(flags.job);
  const { listInputs } = await import('../read/inputs.js');
  const problems = new ProblemList('use the job');
  const steps: { number: number; kind: string; files: string[] }[] = [];
  for (const [index, step] of job.steps.entries()) {
    if (!isRowStep(step)) {
      steps.push({ number: index + 1, kind: step.kind, files: [] });
      continue;
    }
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
    ({ number, kind, files }) =>
      `  step ${number} (${kind})${files.length > 0 ? ': ' : ''}${files.map(escapeText).join(', ')}\n`,
  );
  const text = `Job ${job.name} can be planned.\n${lines.join('')}`;
  await printResult(terminal, flags, { json: { job: job.name, steps }, text });
  return 0;
}

async function checkSecrets(job: Job, terminal: Terminal, problems: ProblemList): Promise<void> {
  if (job.service.sandbox) return;
  const context = { terminal, secrets: new SecretKeeper() };
  for (const area of areasOf(job.steps)) {
    const where = `service.credentials.${area}`;
    await problems.gather(where, () => readSecrets(job.service.credentials, [area], context));
  }
}
