import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { renderWrong, wrongOf } from '../../src/console/pages/wrong.js';
import { UserError } from '../../src/domain/errors.js';
import { parseJob } from '../../src/job/load.js';
import { nodeFiles } from '../../src/storage/files.js';
import { expectSaid, openAConsole, textOf } from './a-console.js';

/** What a page says of a job with this step, at its field where one is named. */
function say(job: string, field?: string): string[] {
  try {
    parseJob(job, 'job.yaml');
    return [];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.problems.map(({ key = null, message, hint = null }) => sayOne({ key, message, hint }, field));
  }
}

function sayOne(problem: { key?: string | null; message: string; hint?: string | null }, field?: string): string {
  const problems = [{ key: null, hint: null, ...problem }];
  const wrong = wrongOf({ exitCode: 2, error: { code: 'bad-job', message: '', hint: null, problems } }, field);
  return textOf({ text: `<main>${renderWrong(wrong).text}` }).replace('There is a problem ', '');
}

function aStep(more: string): string {
  return `service: { sandbox: true }\nsteps: [{ kind: sms, input: { files: a.csv }, destination: mobile, ${more} }]\n`;
}

describe('what is wrong, as a page says it', () => {
  test('a text that is too long is too long at its field, in no words of a job file or a command', () => {
    const job = aStep(`template: { source: LADEN, text: ${'Hello '.repeat(334)} }`);
    expect(say(job, 'message')).toEqual([
      'Cannot send the message: its text needs 14 parts in GSM-7, expected at most 10 parts',
    ]);
    const hint =
      'Shorten template.text in the job, or the column that it shows: volley preview JOB --row N shows a text.';
    const message = 'the text has more than 10 parts for 4 of 5 rows';
    expect(sayOne({ message, hint })).toBe(`${message} Shorten the text, or the column that it shows.`);
  });

  test('what stands on another page is called what it is called there', () => {
    const hours = "window: { from: '20:00', to: '20:00' }, template: { source: LADEN, text: Hi }";
    expect(say(aStep(hours))).toEqual([
      '“Only between times” at When is "20:00", expected a time after from, 20:00, on the same day A window does not reach over midnight: name the hours of the day in which messages may leave, up to "24:00".',
    ]);
    expect(say(aStep('template: { source: ABCDEFGHIJKLMN, text: Hi }'))).toEqual([
      '“From” at Message is "ABCDEFGHIJKLMN", expected a sender name of 11 characters at most, not 14',
    ]);
    const past = 'template.scheduled, 1 January 2020 at 10:00, is in the past';
    expect(sayOne({ message: past })).toBe('“At a time” at When, 1 January 2020 at 10:00, is in the past');
    expect(sayOne({ message: 'input.csv, line 2: it is empty' })).toBe('input.csv, line 2: it is empty');
  });

  test('what only a command or a job file can do is for the person who knows those', () => {
    const hint = 'Put the files back, or finish it with `volley apply --ignore-changed-inputs`.';
    expect(sayOne({ message: 'Changed', hint })).toBe(`Changed For the person who keeps this console: ${hint}`);
    const ofLists = 'Correct it; a list under suppress may name its column instead.';
    const wrong = ['line 2', 'line 3'].map((message) => ({ message, hint: ofLists }));
    expect(textOf({ text: `<main>${renderWrong(wrong).text}` })).toBe('There is a problem line 2 line 3 Correct it.');
  });

  test('no job that the forms can write is refused by keys of its file', () => {
    const directory = join(import.meta.dirname, '../job/faulty');
    const jobs = readdirSync(directory)
      .filter((name) => name.endsWith('.yaml'))
      .flatMap((name) => readFileSync(join(directory, name), 'utf8').split(/^(?=#=== )/m));
    const said = jobs.flatMap((job) => say(job)).map((each) => each.replace(/For the person who keeps .*/, ''));
    const known =
      /steps\[\d+\]\.(?:template\.(?:text|source|scheduled)|window|ramp|input|destination|suppress)\b|\bvolley [a-z]/;
    expect(said.length).toBeGreaterThan(50);
    expect(said.filter((each) => known.test(each))).toEqual([]);
  });
});

describe('a disk that does not take what a page writes', () => {
  const console = openAConsole();

  test('is named on the page, in the words of the system', async () => {
    console.write('campaigns', 'a file, where a directory should be');
    const answer = await console.post('/new', { name: 'sale' });
    rmSync(join(console.directory, 'campaigns'));
    expectSaid(answer, 500, 'campaigns');
    expectSaid(answer, 500, 'Nothing was sent by this page.');
    expect(textOf(answer)).not.toContain('in the log of the console');
  });

  test('keeps no one from the list of campaigns', async () => {
    await console.post('/new', { name: 'sale' });
    const full = vi.spyOn(nodeFiles, 'writeWhole').mockRejectedValue(new Error('ENOSPC: no space left on device'));
    onTestFinished(() => full.mockRestore());
    expectSaid(await console.ask('/'), 200, 'sale');
    expect(full).toHaveBeenCalledOnce();
  });
});
