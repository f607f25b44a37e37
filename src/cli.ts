#!/usr/bin/env node
import yargs, { type Argv } from 'yargs';
import type { Terminal } from './commands/terminal.js';

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

const json = {
  describe: 'Print JSON on stdout (default: when stdout is not a terminal); --no-json prints plain words',
  type: 'boolean',
} as const;
const again = { describe: 'Take files once more that the job already took', type: 'boolean', default: false } as const;

const jobArgument = (command: Argv) =>
  command.positional('job', { describe: 'The job file (YAML or JSON)', type: 'string', demandOption: true });
const runArgument = (command: Argv) =>
  command.positional('run', {
    describe: 'A run directory, as plan and run print it',
    type: 'string',
    demandOption: true,
  });

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
  // A closed pipe is told by the write that fails; without a listener it would end the process in its middle.
  process.stdout.on('error', () => {});
  await yargs(process.argv.slice(2))
    .scriptName('volley')
    .usage(
      '$0 <verb>\n\nSends the rows of your files as SMS batches and contacts, once each, and accounts for every row.',
    )
    .command(
      'run <job>',
      'Plan and apply a job; the same command again goes on where it stopped',
      (command) =>
        jobArgument(command)
          .options({ again, json })
          .example('$0 run jobs/spring-sale.yaml', 'contacts, then SMS, on the embedded sandbox'),
      (argv) =>
        finish(
          import('./commands/run.js').then(({ runJob }) =>
            runJob({ job: argv.job, again: argv.again, json: argv.json }, terminal),
          ),
        ),
    )
    .command(
      'check <job>',
      'Check a job file, its secrets, and whether its files are there',
      (command) => jobArgument(command).options({ json }).example('$0 check jobs/spring-sale.yaml', ''),
      (argv) =>
        finish(
          import('./commands/check.js').then(({ checkJob }) => checkJob({ job: argv.job, json: argv.json }, terminal)),
        ),
    )
    .command(
      'plan <job>',
      'Read and check all input, write the exact requests, and show what would happen; sends nothing',
      (command) =>
        jobArgument(command).options({ again, json }).example('$0 plan jobs/spring-sale.yaml', 'then: volley apply'),
      (argv) =>
        finish(
          import('./commands/plan.js').then(({ planJob }) =>
            planJob({ job: argv.job, again: argv.again, json: argv.json }, terminal),
          ),
        ),
    )
    .command(
      'apply <run>',
      'Send exactly the plan in a run directory, or go on with it',
      (command) =>
        runArgument(command)
          .options({
            confirm: { describe: 'Id of the plan that was reviewed; another one is refused', type: 'string' },
            'ignore-changed-inputs': {
              describe: 'Go on though an input file changed since the plan was made; the plan is sent as it stands',
              type: 'boolean',
              default: false,
            },
            json,
          })
          .example('$0 apply out/spring-sale/k3v9q2m8x4aa --confirm k3v9q2m8x4aa', ''),
      (argv) =>
        finish(
          import('./commands/apply.js').then(({ applyRun }) =>
            applyRun(
              { run: argv.run, confirm: argv.confirm, ignoreChangedInputs: argv.ignoreChangedInputs, json: argv.json },
              terminal,
            ),
          ),
        ),
    )
    .command(
      'status <run>',
      'Show how far a run is',
      (command) => runArgument(command).options({ json }).example('$0 status out/spring-sale/k3v9q2m8x4aa', ''),
      (argv) =>
        finish(
          import('./commands/status.js').then(({ showStatus }) =>
            showStatus({ run: argv.run, json: argv.json }, terminal),
          ),
        ),
    )
    .command(
      'report <run>',
      'Make the outputs of a run again from its plan and journal',
      (command) => runArgument(command).options({ json }).example('$0 report out/spring-sale/k3v9q2m8x4aa', ''),
      (argv) =>
        finish(
          import('./commands/report.js').then(({ reportRun }) =>
            reportRun({ run: argv.run, json: argv.json }, terminal),
          ),
        ),
    )
    .command(
      'sandbox',
      'Serve the local sandbox until a signal; its first line on stdout is JSON',
      (command) =>
        command
          .options({
            port: { describe: '0 takes any free port', type: 'number', default: 4010 },
            host: { describe: 'Address to listen on', type: 'string', default: '127.0.0.1' },
            data: { describe: 'Directory that keeps its state over restarts', type: 'string' },
          })
          .example('$0 sandbox --port 4010', 'then: curl http://127.0.0.1:4010/_sandbox/ledger'),
      (argv) =>
        finish(
          import('./commands/sandbox.js').then(({ serveSandbox }) =>
            serveSandbox({ port: argv.port, host: argv.host, data: argv.data }, terminal),
          ),
        ),
    )
    .command(
      'schema',
      'Print the JSON Schema of a job file, for editors',
      (command) => command.example('$0 schema > job.schema.json', ''),
      () => finish(import('./commands/schema.js').then(({ printSchema }) => printSchema(terminal))),
    )
    .demandCommand(1, 'Name a verb, such as run; --help lists them.')
    .recommendCommands()
    .strict()
    .help()
    .epilogue(
      'Exit codes: 0 every row accepted · 1 some rows rejected · 2 did not start · 3 rows in doubt · ' +
        '4 stopped, a person must look · 75 stopped before the end, run the same command to go on',
    )
    .fail((message, error, parser) => {
      if (error) throw error;
      terminal.writeStderr(`${parser.help()}\n\n${message}\n`);
      process.exit(2);
    })
    .wrap(Math.min(120, process.stdout.columns ?? 100))
    .parseAsync();
}

await main();
