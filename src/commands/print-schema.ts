import type { Terminal } from '../command/terminal.js';
import { renderJobJsonSchema } from '../job/schema/json-schema.js';

/** `volley schema`: the JSON Schema of a job file, for editors. */
export async function printSchema(terminal: Terminal): Promise<number> {
  await terminal.writeStdout(renderJobJsonSchema());
  return 0;
}
