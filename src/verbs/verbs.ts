import { type AnyVerb, type Group, type Listed, nameOf } from './verb.js';

interface ListedVerb extends Listed {
  /** Its module, and all that it uses: only the verb that was asked for is loaded, so that `--help` is there at once. */
  readonly load: () => Promise<AnyVerb | Group>;
}

/** All verbs, in the order of the help. */
export const LIST: readonly ListedVerb[] = [
  {
    command: 'init <file..>',
    about: 'Write a job from an export: it finds the numbers, the country and the names, and runs on the sandbox',
    load: async () => (await import('./init.js')).init,
  },
  {
    command: 'console',
    about: 'Campaigns in a browser, from a file to the report, on this machine',
    load: async () => (await import('./console.js')).console,
  },
  {
    command: 'run <job>',
    about: 'Plan and apply a job; the same command again resumes where it stopped',
    load: async () => (await import('./run.js')).run,
  },
  {
    command: 'check <job>',
    about: 'Check a job file, its secrets, its database, its price list, and the first rows of its files',
    load: async () => (await import('./check.js')).check,
  },
  {
    command: 'preview <job|run>',
    about: 'Show messages as people get them, with the rows behind them; writes nothing and sends nothing',
    load: async () => (await import('./preview.js')).preview,
  },
  {
    command: 'test <job|run>',
    about: 'Send real messages of a job or a plan to your own numbers, at once; nothing of the job is taken',
    load: async () => (await import('./test.js')).test,
  },
  {
    command: 'plan <job>',
    about: 'Read and check all input, write the exact requests, and show what would happen; sends nothing',
    load: async () => (await import('./plan.js')).plan,
  },
  {
    command: 'apply <run>',
    about: 'Send exactly the plan in a run directory, or resume it',
    load: async () => (await import('./apply.js')).apply,
  },
  {
    command: 'approve <run>',
    about: 'Let a plan be sent that another person made, where guards.requireApproval asks for it; sends nothing',
    load: async () => (await import('./approve.js')).approve,
  },
  {
    command: 'status <run>',
    about: 'Show the progress of a run',
    load: async () => (await import('./status.js')).status,
  },
  {
    command: 'runs [job]',
    about: 'List the runs of a job, the newest first, those that are gone included',
    load: async () => (await import('./runs.js')).runs,
  },
  {
    command: 'report <run>',
    about: 'Write the outputs of a run again, its page report.html among them',
    load: async () => (await import('./report.js')).report,
  },
  {
    command: 'proof <run>',
    about: 'Write what a run planned and did as a chain of digests, without numbers; it can be checked without Volley',
    load: async () => (await import('./proof.js')).proof,
  },
  {
    command: 'settle <run>',
    about: "Settle rows in doubt, by the service's message export or by your own decision; sends nothing",
    load: async () => (await import('./settle.js')).settle,
  },
  {
    command: 'retry <run>',
    about: 'Make a plan of rows that a run did not send, or that the service refused; volley apply sends it',
    load: async () => (await import('./retry.js')).retry,
  },
  {
    command: 'cancel <run>',
    about: 'Take back scheduled messages that the service has accepted and not sent yet; sends nothing',
    load: async () => (await import('./cancel.js')).cancel,
  },
  {
    command: 'abandon <run>',
    about:
      'Let a plan, or a run that stopped, go for good: it never sends again; what it did not send is free for another plan',
    load: async () => (await import('./abandon.js')).abandon,
  },
  {
    command: 'prune <job>',
    about: 'Delete the rows of runs that ended long ago; what they sent stays known, and is not sent again',
    load: async () => (await import('./prune.js')).prune,
  },
  {
    command: 'people',
    about: 'Take down who opted out, or in again; runs that are under way send nothing to them any more',
    load: async () => (await import('./people.js')).people,
  },
  {
    command: 'work',
    about: 'Send requests of runs that other processes lead over a database; as many workers as wanted, on any machine',
    load: async () => (await import('./work.js')).work,
  },
  {
    command: 'cluster',
    about: 'The database of jobs with `cluster`: make its schema, see who works, let a run go',
    load: async () => (await import('./cluster.js')).cluster,
  },
  {
    command: 'verify',
    about: 'Send a verification code to one number, or check one',
    load: async () => (await import('./verify.js')).verify,
  },
  {
    command: 'campaign',
    about: 'Show or set the status of a dialer campaign',
    load: async () => (await import('./campaign.js')).campaign,
  },
  {
    command: 'chat',
    about: 'Read a room of the workplace chat, or post to it',
    load: async () => (await import('./chat.js')).chat,
  },
  {
    command: 'gateway',
    about: 'Set up the chat gateway, or act in one of its conversations',
    load: async () => (await import('./gateway.js')).gateway,
  },
  {
    command: 'listen',
    about: 'Receive webhook events and delivery receipts into a file until a signal; its first line on stdout is JSON',
    load: async () => (await import('./listen.js')).listen,
  },
  {
    command: 'sandbox',
    about: 'Serve the local sandbox until a signal; its first line on stdout is JSON',
    load: async () => (await import('./serve-sandbox.js')).sandbox,
  },
  {
    command: 'schema',
    about: 'Print the JSON Schema of a job file, for editors',
    load: async () => (await import('./schema.js')).schema,
  },
  {
    command: 'help [topic]',
    about: 'Print a page of the reference, or list the pages',
    load: async () => (await import('./help.js')).help,
  },
];

export const VERBS: readonly string[] = LIST.map(({ command }) => nameOf(command));
