import { join } from 'node:path';
import type { Context, Result } from '../command/context.js';
import { passDiskErrors } from '../command/disk-error.js';
import { namePerson } from '../command/env.js';
import { showPath } from '../command/screen.js';
import { escapeText } from '../command/terminal.js';
import { UserError } from '../domain/errors.js';
import type { OptOut } from '../domain/opt-out-line.js';
import { isRowStep, type Job } from '../job/job.js';
import { loadJob } from '../job/load.js';
import { OptOutFile } from '../listen/opt-out-file.js';
import { maskNumber } from '../normalize/mask.js';
import { normalizeNumber } from '../normalize/number/number.js';
import type { Files } from '../storage/files.js';
import { argument, json, text, theJob } from './flags.js';
import { defineBelow, type Group } from './verb.js';

const args = {
  job: theJob,
  number: argument('International (+6591234567), or national if the input of the job names a country'),
} as const;
const flags = { by: text('Who decided (default: you, on this machine)'), json } as const;

const optOut = defineBelow(
  'opt-out <job> <number>',
  'Send nothing to a number any more, in a run that is under way too',
  {
    args,
    flags,
    examples: [['jobs/spring-sale.yaml +6591234567 --by "Ann, by phone"', '']],
    run: (given, context) => decide('out', given, context),
  },
);

const optIn = defineBelow(
  'opt-in <job> <number>',
  'Let a number be written to again; what was taken out of a run stays out',
  {
    args,
    flags,
    examples: [['jobs/spring-sale.yaml +6591234567', '']],
    run: (given, context) => decide('in', given, context),
  },
);

/** `volley people`: the list of opt-outs of a job, for a person who decides. Sends nothing, and needs no lock: a list is only appended to. */
export const people: Group = [optOut, optIn];

/** A line in the list, durable once the command ends. */
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
  await passDiskErrors(async () => {
    const list = await OptOutFile.open(path, { files: env.files });
    try {
      await list.add({ number, what, at, by, word: '' });
    } finally {
      await list.close();
    }
  });
  const does = what === 'out' ? 'nothing is sent to it any more' : 'it may be written to again';
  const said = `${maskNumber(number)} opted ${what}: ${does} by jobs with this list`;
  return {
    json: { job: job.name, number: maskNumber(number), what, at, by, list: path },
    text: `${escapeText(said)}\n  → ${escapeText(showPath(screen, path))}\n`,
    reason: said,
  };
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

async function findList({ name, optOuts }: Job, files: Files): Promise<string> {
  if (optOuts === undefined) {
    throw new UserError('bad-job', `Cannot take it down: job ${name} has no optOuts, expected the list that it reads`, {
      hint: 'Add `optOuts: opt-outs.csv` at the top of the job file. Nothing was changed.',
    });
  }
  return (await files.stat(optOuts))?.isDirectory === true ? join(optOuts, NAME_IN_DIRECTORY) : optOuts;
}
