#!/usr/bin/env node
import yargs from 'yargs';
import type { Terminal } from './commands/terminal.js';
import { addCampaignVerbs } from './verbs/campaign.js';
import { addChatVerbs } from './verbs/chat.js';
import { addGatewayVerbs } from './verbs/gateway.js';
import { addJobVerbs } from './verbs/job.js';
import { addSchemaVerb } from './verbs/schema.js';
import { addServerVerbs } from './verbs/server.js';
import { brief } from './verbs/verb.js';
import { addVerifyVerbs } from './verbs/verify.js';

/**
 * Verbs → commands. The only reader of argv and env, the only process.exit; a command is loaded when its verb is asked
 * for, so that `--help` loads no HTTP client, no CSV parser and no server.
 */
const terminal: Terminal = {
  env: process.env,
  stdin: process.stdin,
  isStdoutTerminal: process.stdout.isTTY === true,
  isStderrTerminal: process.stderr.isTTY === true,
  writeStdout: (text) =>
    new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
    }),
  writeStderr: (text) => {
    process.stderr.write(text);
  },
  onSignal: (listener) => {
    const names = ['SIGINT', 'SIGTERM'] as const;
    for (const name of names) process.on(name, listener);
    return () => {
      for (const name of names) process.off(name, listener);
    };
  },
  leave: (exitCode) => process.exit(exitCode),
};

/** Runs a command; its number is the exit code, and so is that of what it throws. */
async function finish(command: Promise<number>): Promise<void> {
  try {
    process.exitCode = await command;
  } catch (error) {
    const { exitCodeOfError, formatError } = await import('./commands/print-error.js');
    terminal.writeStderr(formatError(error));
    process.exitCode = exitCodeOfError(error);
  }
}

async function main(): Promise<void> {
  // Without a listener a closed pipe would end the process in its middle. Of stdout it is told by the write that fails;
  // a log that nobody can read any more ends no run.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const context = { terminal, finish };
  const cli = yargs(process.argv.slice(2))
    .scriptName('volley')
    // An option that is given twice counts as it was given last.
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
    .reduce((verbs, add) => add(verbs, context), brief(cli, '<verb>', terminal))
    .demandCommand(1, 'Name a verb, such as run.')
    .recommendCommands()
    .strict()
    .help()
    .epilogue(
      'Exit codes: 0 every row accepted · 1 some rows rejected · 2 did not start · 3 rows in doubt · ' +
        '4 stopped, a person must look · 75 stopped before the end, run the same command to go on',
    )
    .wrap(Math.min(120, process.stdout.columns ?? 100))
    .parseAsync();
}

await main();
