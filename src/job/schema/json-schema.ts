import { z } from 'zod';
import { writtenJob } from './written-job.js';

/** The JSON Schema of a job file, in draft-07, which is what editors understand. */
export function jobJsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(writtenJob, { target: 'draft-7', io: 'input' });
  return { $schema, title: 'Volley job', ...rest };
}

/** Exactly what `volley schema` prints and `jobs/job.schema.json` holds. */
export function renderJobJsonSchema(): string {
  return `${JSON.stringify(jobJsonSchema(), null, 2)}\n`;
}
