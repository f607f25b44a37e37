import { readFileSync } from 'node:fs';
import yargs from 'yargs';
import { addCampaignVerbs } from './campaign.js';
import { addChatVerbs } from './chat.js';
import { addGatewayVerbs } from './gateway.js';
import { addJobVerbs } from './job.js';
import { addSchemaVerb } from './schema.js';
import { addServerVerbs } from './server.js';
import { brief, type VerbContext } from './verb.js';
import { addVerifyVerbs } from './verify.js';

/** Reads the arguments and runs the command of their verb; help and misuse are answered without any command. */
export async function runCommandLine(args: readonly string[], context: VerbContext, columns: number): Promise<void> {
  const cli = yargs([...args])
    .scriptName('volley')
    .version(readVersion())
    // In one language: as the rest of what is printed.
    .detectLocale(false)
    // An option that is given twice counts as it was given last, save where its verb says otherwise.
    .parserConfiguration({ 'duplicate-arguments-array': false })
    .usage(
      '$0 <verb>\n\nSends the rows of your files to the service, once each, and accounts for every row; makes single calls too.',
    );
  const addVerbs = [
    addJobVerbs,
    addVerifyVerbs,
    addCampaignVerbs,
    addChatVerbs,
    addGatewayVerbs,
    addServerVerbs,
    addSchemaVerb,
  ];
  await addVerbs
    .reduce((verbs, add) => add(verbs, context), brief(cli, '<verb>', context.terminal))
    .demandCommand(1, 'Name a verb, such as run.')
    .recommendCommands()
    .strict()
    .help()
    .epilogue(
      'Exit codes: 0 every row accepted · 1 some rows rejected · 2 did not start · 3 rows in doubt · ' +
        '4 stopped, a person must look · 75 stopped before the end, run the same command to go on',
    )
    .wrap(Math.min(120, columns))
    .parseAsync();
}

/** Of package.json, which lies two directories above both this file and what is built of it. */
function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}
