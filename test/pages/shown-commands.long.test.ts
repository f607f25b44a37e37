import { existsSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { runCommandInProcess } from '../e2e/command-in-process.js';
import { copyExamples } from '../jobs/copied-examples.js';
import { type CommandHelp, readAllHelp } from './command-help.js';
import { ALL_PAGES, type Page, ROOT, readPage } from './page.js';

interface ShownCommand {
  readonly page: string;
  readonly text: string;
  /** In a block of code, and so to be copied; else in a sentence, where it may be cut short. */
  readonly isWhole: boolean;
}

const shown = ALL_PAGES.map(readPage).flatMap(listCommands);

let commands: CommandHelp[];
beforeAll(async () => {
  commands = await readAllHelp();
});

test('pages show commands, in blocks and in sentences', () => {
  expect(shown.filter(({ isWhole }) => isWhole).length).toBeGreaterThan(25);
  expect(shown.filter(({ isWhole }) => !isWhole).length).toBeGreaterThan(25);
});

test('every command that a page shows can be parsed', () => {
  expect(
    shown.map((command) => ({ ...command, fault: findFault(command) })).filter(({ fault }) => fault !== undefined),
  ).toEqual([]);
});

test('every job that a page runs is there; each of jobs/ is run as it stands in test/jobs', () => {
  const jobs = shown.flatMap(({ text }) => /\bjobs\/[\w-]+\.yaml/.exec(text) ?? []);

  expect(jobs.filter((job) => !existsSync(`${ROOT}${job}`))).toEqual([]);
});

test('calls and help that a page shows run as they stand on the sandbox', async () => {
  const directory = copyExamples();
  const known: Record<string, string> = {};
  const failed: unknown[] = [];
  let count = 0;
  for (const text of new Set(shown.filter(isToRun).map((command) => command.text))) {
    const args = splitWords(text).map((word) => known[word] ?? word);
    if (args.some(isPlaceholder)) continue;
    const { code, stdout, stderr } = await runCommandInProcess(args, { cwd: directory, env: {} });
    count += 1;
    if (![0, 1].includes(code ?? -1)) failed.push({ text, code, stderr });
    else if (stdout.startsWith('{')) {
      const { sessionId, webhookId } = JSON.parse(stdout);
      Object.assign(known, sessionId && { SESSION: sessionId }, webhookId && { WEBHOOK: webhookId });
    }
  }

  expect(failed).toEqual([]);
  expect(Object.keys(known)).toEqual(['SESSION', 'WEBHOOK']);
  expect(count).toBeGreaterThan(10);
});

/** What ends by itself, needs no key, and is not run elsewhere. */
function isToRun({ text, isWhole }: ShownCommand): boolean {
  if (/nightly|first\.yaml/.test(text)) return false;
  return /^(help|schema)\b/.test(text) || (isWhole && /^(verify|campaign|chat|gateway)\b/.test(text));
}

function listCommands({ path, text, spans }: Page): ShownCommand[] {
  const lines = [...text.matchAll(/^ *(?:npx )?volley ([a-z][^\n]*)$|^docker run .*? volley:\S+ ([^\n]*)$/gm)];
  const whole = lines.map(([, command, inImage]) => command ?? inImage ?? '');
  const parts = spans.flatMap((span) => /^(?:npx )?volley ([a-z].*)$/.exec(span)?.[1] ?? []);
  const cut = (command: string) => command.replace(/ +(?:#|>).*$/, '');
  return [
    ...whole.map((command) => ({ page: path, text: cut(command), isWhole: true })),
    ...parts.map((command) => ({ page: path, text: cut(command), isWhole: false })),
  ];
}

/** Why the command would not be understood; undefined where it would. */
function findFault({ text, isWhole }: ShownCommand): string | undefined {
  const words = splitWords(text);
  const help = commands.find(({ name }) => `${words.join(' ')} `.startsWith(`${name} `));
  const isGroup = commands.some(({ name }) => name.startsWith(`${words[0]} `));
  if (help === undefined) return isGroup && !isWhole && words.length === 1 ? undefined : 'there is no such command';
  const rest = words.slice(help.name.split(' ').length);
  const flags = rest.filter((word) => word.startsWith('--')).map((word) => word.replace('--no-', '--'));
  const unknown = flags.find((flag) => !help.flags.has(flag));
  if (unknown !== undefined) return `it has no ${unknown}`;
  const given = rest.filter((word, at) => !word.startsWith('--') && !help.flags.get(rest[at - 1] ?? ''));
  if (given.length > help.arguments.most) return `${given.length} arguments`;
  if (!isWhole) return undefined;
  if (given.length < help.arguments.least) return `only ${given.length} arguments`;
  const lacking = help.requiredFlags.find((flag) => !flags.includes(flag));
  return lacking === undefined ? undefined : `it lacks ${lacking}`;
}

/** As a shell does it, for what pages have: blanks, and quotes around a text. */
function splitWords(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

/** A word in capitals that no value of the service is. */
function isPlaceholder(word: string): boolean {
  return /^[A-Z][A-Z0-9.-]+$/.test(word) && word !== 'PAUSED';
}
