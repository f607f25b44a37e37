import { type AnyVerb, type Group, nameOf } from './verb.js';

/** All verbs with their arguments, in the order of the help, and what each does. */
const ABOUT = {
  'init <file..>':
    'Write a job from an export: it finds the numbers, the country and the names, and runs on the sandbox',
  console: 'Campaigns in a browser, from a file to the report, on this machine',
  'run <job>': 'Plan and apply a job; the same command again resumes where it stopped',
  'check <job>': 'Check a job file, its secrets, its database, its price list, and the first rows of its files',
  'preview <job|run>': 'Show messages as people get them, with the rows behind them; writes nothing and sends nothing',
  'test <job|run>': 'Send real messages of a job or a plan to your own numbers, at once; nothing of the job is taken',
  'plan <job>': 'Read and check all input, write the exact requests, and show what would happen; sends nothing',
  'apply <run>': 'Send exactly the plan in a run directory, or resume it',
  'approve <run>':
    'Let a plan be sent that another person made, where guards.requireApproval asks for it; sends nothing',
  'status <run>': 'Show the progress of a run',
  'runs [job]': 'List the runs of a job, the newest first, those that are gone included',
  'report <run>': 'Write the outputs of a run again, its page report.html among them',
  'proof <run>':
    'Write what a run planned and did as a chain of digests, without numbers; it can be checked without Volley',
  'settle <run>': "Settle rows in doubt, by the service's message export or by your own decision; sends nothing",
  'retry <run>': 'Make a plan of rows that a run did not send, or that the service refused; volley apply sends it',
  'cancel <run>': 'Take back scheduled messages that the service has accepted and not sent yet; sends nothing',
  'abandon <run>':
    'Let a plan, or a run that stopped, go for good: it never sends again; what it did not send is free for another plan',
  'prune <job>': 'Delete the rows of runs that ended long ago; what they sent stays known, and is not sent again',
  people: 'Take down who opted out, or in again; runs that are under way send nothing to them any more',
  'work <job>':
    'Send requests of a job that another process leads over a database; as many workers as wanted, on any machine',
  cluster: 'The database of jobs with `cluster`: make its schema, see who works, let a run go',
  verify: 'Send a verification code to one number, or check one',
  campaign: 'Show or set the status of a dialer campaign',
  chat: 'Read a room of the workplace chat, or post to it',
  gateway: 'Set up the chat gateway, or act in one of its conversations',
  listen: 'Receive webhook events and delivery receipts into a file until a signal; its first line on stdout is JSON',
  sandbox: 'Serve the local sandbox until a signal; its first line on stdout is JSON',
  schema: 'Print the JSON Schema of a job file, for editors',
  'help [topic]': 'Print a page of the reference, or list the pages',
} as const;

type NameOf<Command> = Command extends `${infer Name} ${string}` ? Name : Command;

/** The module of each, and all that it uses: only the verb that was asked for is loaded, so that `--help` is there at once. */
const LOAD: Readonly<Record<NameOf<keyof typeof ABOUT>, () => Promise<AnyVerb | Group>>> = {
  init: async () => (await import('./init.js')).init,
  console: async () => (await import('./console.js')).console,
  run: async () => (await import('./run.js')).run,
  check: async () => (await import('./check.js')).check,
  preview: async () => (await import('./preview.js')).preview,
  test: async () => (await import('./test.js')).test,
  plan: async () => (await import('./plan.js')).plan,
  apply: async () => (await import('./apply.js')).apply,
  approve: async () => (await import('./approve.js')).approve,
  status: async () => (await import('./status.js')).status,
  runs: async () => (await import('./runs.js')).runs,
  report: async () => (await import('./report.js')).report,
  proof: async () => (await import('./proof.js')).proof,
  settle: async () => (await import('./settle.js')).settle,
  retry: async () => (await import('./retry.js')).retry,
  cancel: async () => (await import('./cancel.js')).cancel,
  abandon: async () => (await import('./abandon.js')).abandon,
  prune: async () => (await import('./prune.js')).prune,
  people: async () => (await import('./people.js')).people,
  work: async () => (await import('./work.js')).work,
  cluster: async () => (await import('./cluster.js')).cluster,
  verify: async () => (await import('./verify.js')).verify,
  campaign: async () => (await import('./campaign.js')).campaign,
  chat: async () => (await import('./chat.js')).chat,
  gateway: async () => (await import('./gateway.js')).gateway,
  listen: async () => (await import('./listen.js')).listen,
  sandbox: async () => (await import('./serve-sandbox.js')).sandbox,
  schema: async () => (await import('./schema.js')).schema,
  help: async () => (await import('./help.js')).help,
};

export const LIST = Object.entries(ABOUT).map(([command, about]) => ({
  command,
  about,
  load: LOAD[nameOf(command) as keyof typeof LOAD],
}));

export const VERBS: readonly string[] = Object.keys(LOAD);
