import { renderJobJsonSchema } from '../job/schema/json-schema.js';
import { defineVerb } from './verb.js';

/** `volley schema`: the JSON Schema of a job file, for editors. */
export const schema = defineVerb({
  args: {},
  flags: {},
  examples: [['> job.schema.json', '']],
  isLook: true,
  run: async () => ({ text: renderJobJsonSchema() }),
});
