import { join } from 'node:path';
import type { Context, Result } from '../command/context.js';
import { namePerson } from '../command/env.js';
import { escapeText, formatParagraph, type Screen, showCommandOn, showPath } from '../command/screen.js';
import { jobDirectoryOf } from '../command/with-job.js';
import { closing } from '../domain/closing.js';
import { countOf } from '../domain/count-of.js';
import { UserError } from '../domain/errors.js';
import type { OptOut } from '../domain/opt-out-line.js';
import { formatTime } from '../domain/stated-time.js';
import { isRowStep, type Job } from '../job/job.js';
import { loadJob } from '../job/load.js';
import { namesOfOptOuts } from '../job/resolve-job.js';
import { LONGEST_HELD_MS } from '../kinds/schedule.js';
import { openOptOutFile } from '../listen/opt-outs.js';
import { maskNumber } from '../normalize/mask.js';
import { normalizeNumber } from '../normalize/number/number.js';
import { listMessagesTo, type MessageToPerson } from '../people/list-person.js';
import { PERSON_WORDS } from '../people/people-file.js';
import { ProblemList } from '../plan/problems.js';
import { openCurrentLists } from '../plan/suppress/current-lists.js';
import type { Files } from '../storage/files.js';
import { argument, defineBelow, type Group, json, text, theJob } from './verb.js';

const args = {
  job: theJob,
  number: argument('International (+6591234567), or national if the input of the job names a country'),
} as const;

const decision = (what: OptOut['what'], about: string, more = '') =>
  defineBelow(`opt-${what} <job> <number>`, about, {
    args,
    flags: { by: text('Who decided (default: you, on this machine)'), json },
    examples: [[`jobs/spring-sale.yaml +6591234567${more}`, '']],
    run: (given, context) => decide(what, given, context),
  });

const show = defineBelow('show <job> <number>', 'Say what a person was sent, and whether a list of the job has them', {
  args,
  flags: { json },
  examples: [['jobs/spring-sale.yaml +6591234567', '']],
  isLook: true,
  run: showPerson,
});

/**
 * `volley people`: what the memory of a job knows of a person, and its list of opt-outs, for somebody who decides. Sends nothing, and needs
 * no lock: a list is only appended to.
 */
export const people: Group = [
  show,
  decision('out', 'Send nothing to a number any more, in a run that is under way too', ' --by "Ann by phone"'),
  decision('in', 'Let a number be written to again; what was taken out of a run stays out'),
];

async function showPerson({ job: written, number: given }: { job: string; number: string }, { env, screen }: Context) {
  const { files } = env;
  const job = await loadJob(written);
  const number = Number(readNumber(given, job));
  const who = maskNumber(`+${number}`);
  const jobDirectory = jobDirectoryOf(job);
  const messages = await listMessagesTo(number, { job, jobDirectory, nowMs: env.clock.now() }, files);
  const list = await findListOf(number, job, env);
  const isOptedOut = list !== undefined;
  const lines = messages.map(({ at, job: name, run, state, why, text }) => {
    const [because, what] = [why === null ? '' : `, ${why}`, text === undefined ? '' : `: ${JSON.stringify(text)}`];
    const said = `${formatTime({ at })} · job ${name}, run ${run} · ${PERSON_WORDS[state]}${because}${what}`;
    return formatParagraph(said, screen, { indent: '  ' });
  });
  const may = isOptedOut ? `The list ${list} has it: nothing is sent to it.` : 'No list of the job has it.';
  const head = messages.length === 0 ? `${who}: nothing was sent to it, as far as is known.` : `${who}:`;
  return {
    json: { job: job.name, number: who, messages, isOptedOut, list: list ?? null },
    text: `${escapeText(head)}\n${lines.join('')}${formatParagraph(may, screen)}${formatWaiting(messages, screen)}`,
    reason: `${countOf(messages.length, 'message')} known`,
  };
}

/** A list keeps nothing back that the service has: it sends that at its time. */
function formatWaiting(messages: readonly MessageToPerson[], screen: Screen): string {
  return messages
    .flatMap(({ run, directory, scheduled }) => {
      if (scheduled === null) return [];
      const until = `The service holds a message of run ${run} to it, and sends it on ${formatTime(scheduled)}`;
      const command = showCommandOn(screen, 'cancel', directory);
      return [
        `${formatParagraph(`${until}, unless the whole run is taken back before:`, screen)}  ${escapeText(command)}\n`,
      ];
    })
    .join('');
}

/** None where what was sent cannot be read: who opts out is out all the same. */
async function listWaiting(number: number, job: Job, env: Context['env']): Promise<MessageToPerson[]> {
  try {
    const nowMs = env.clock.now();
    // Many people may opt out one by one, and the memory may know of years.
    const known = { job, jobDirectory: jobDirectoryOf(job), nowMs, sinceMs: nowMs - LONGEST_HELD_MS };
    return (await listMessagesTo(number, known, env.files)).filter(({ scheduled }) => scheduled !== null);
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

async function decide(
  what: OptOut['what'],
  { job: written, number: given, by: who }: { job: string; number: string; by: string | undefined },
  context: Context,
): Promise<Result> {
  const { env, screen } = context;
  const job = await loadJob(written);
  const number = readNumber(given, job);
  const path = await findList(job, env.files);
  const by = who ?? namePerson(context);
  const at = new Date(env.clock.now()).toISOString();
  context.name({ job: job.name, what, number: maskNumber(number), by, list: path });
  await using file = closing(await openOptOutFile(path, { files: env.files }));
  await file.add({ number, what, at, by, word: '' });
  const others = what === 'in' ? await findListOf(Number(number), job, env) : undefined;
  const waiting = what === 'out' ? await listWaiting(Number(number), job, env) : [];
  const does = what === 'out' ? 'nothing is sent to it any more' : 'it may be written to again';
  const still = others === undefined ? '' : `, but not by job ${job.name}. The list ${others} has it`;
  const said = `${maskNumber(number)} opted ${what}: ${does} by jobs with this list${still}`;
  return {
    json: {
      job: job.name,
      number: maskNumber(number),
      what,
      at,
      by,
      list: path,
      isOptedOut: what === 'out' || others !== undefined,
      waiting: waiting.map(({ run, directory, scheduled }) => ({ run, directory, scheduled })),
    },
    text: `${escapeText(said)}\n  → ${escapeText(showPath(screen, path))}\n${formatWaiting(waiting, screen)}`,
    reason: said,
  };
}

/** The list by which the job sends nothing to the number; undefined where none has it. */
async function findListOf(number: number, job: Job, env: Context['env']): Promise<string | undefined> {
  const lists = await openCurrentLists({ id: '', steps: [] }, job, job.directory, async () => {
    const gather = () => new ProblemList('look the number up', 'Put the list right and run the same command again.');
    return { ...env, reader: await env.loadReader(), gather };
  });
  await lists?.refresh();
  const found = job.steps.flatMap((_, index) => lists?.nameList({ step: index + 1, number }) ?? []);
  return found[0];
}

function readNumber(given: string, { steps }: Job): string {
  const country = steps.filter(isRowStep).find(({ input }) => input.country !== undefined)?.input.country;
  const read = normalizeNumber(given, country);
  if (read.ok) return read.e164;
  throw new UserError('bad-flag', `Cannot use the number: ${read.reason.replace(/^The cell/, 'the argument')}`, {
    hint: 'Give it with + and its country code, such as +6591234567. Nothing was changed.',
  });
}

/** In a directory of lists, the one that is named like this. */
const NAME_IN_DIRECTORY = 'opt-outs.csv';

async function findList(job: Job, files: Files): Promise<string> {
  const [path] = namesOfOptOuts(job);
  if (path === undefined) {
    throw new UserError(
      'bad-job',
      `Cannot take it down: job ${job.name} has no optOuts, expected the list that it reads`,
      { hint: 'Add `optOuts: opt-outs.csv` at the top of the job file. Nothing was changed.' },
    );
  }
  return (await files.stat(path))?.isDirectory === true ? join(path, NAME_IN_DIRECTORY) : path;
}
