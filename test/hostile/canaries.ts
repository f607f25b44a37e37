import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeFailure, formatError } from '../../src/command/failure.js';
import { runVerb } from '../../src/command/runner.js';
import type { Terminal } from '../../src/command/terminal.js';
import { escapeJson } from '../../src/ports/log.js';
import { check } from '../../src/verbs/check.js';
import { aTerminal } from '../command/a-terminal.js';
import { planJob, runJob } from '../command/give-verb.js';
import { aFolder } from '../plan/a-plan.js';

/** A secret of each kind, with all that JSON, an address or a pattern would write in another form. */
export const SECRETS = {
  CONNECT_KEY: 'CANARY-connect-"q\\b/+%&=<>{}$^',
  GATEWAY_KEY: 'CANARY-gateway-"q\\b/+%&=<>{}$^',
  CHAT_KEY: 'CANARY-chat-"q\\b/+%&=<>{}$^',
  DATA_TOKEN: 'CANARY-data-"q\\b/+%&=<>{}$^',
  ACTION_TOKEN: 'CANARY-action-"q\\b/+%&=<>{}$^',
} as const;

export const CREDENTIALS = {
  apiKey: { env: 'CONNECT_KEY' },
  gateway: { apiKey: { env: 'GATEWAY_KEY' } },
  chat: { apiKey: { env: 'CHAT_KEY' } },
  campaign: { username: 'acme', dataToken: { env: 'DATA_TOKEN' }, actionToken: { env: 'ACTION_TOKEN' } },
};

/** Of a person, as a service might repeat it; it stands in the input too. */
export const NUMBER = '+6590009999';

/** Would clear a screen, colour it, turn the direction of writing, hide, and write over what stands there. */
export const STEERING = '\u001b[2J\u009b31m\u202e\u200b\u007f\r\u2066';

/** How a secret may be written: whatever it looks like, some letters of it stand there as they are. */
function formsOf(secret: string): string[] {
  return [
    secret,
    secret.split('"', 1)[0] ?? '',
    Buffer.from(secret).toString('base64'),
    // In front of a Basic token stands the user name.
    Buffer.from(`acme:${secret}`).toString('base64'),
    Buffer.from(secret).toString('hex'),
    inspectBytes(secret.slice(0, 8)),
  ];
}

/** As they stand in `<Buffer 41 42 …>`, which shows the first fifty. */
function inspectBytes(text: string): string {
  return (Buffer.from(text).toString('hex').match(/../g) ?? []).join(' ');
}

export function holdsSecret(text: string): boolean {
  return Object.values(SECRETS).some((secret) => formsOf(secret).some((form) => text.includes(form)));
}

/** Its national part is enough. */
export function holdsNumber(text: string): boolean {
  const national = NUMBER.slice(3);
  return text.includes(national) || text.includes(inspectBytes(national));
}

/** The colours of an account; `STEERING` holds none of them. */
const OWN_STYLES = [1, 2, 22, 31, 32, 35, 39];

export function steersTerminal(text: string): boolean {
  const plain = OWN_STYLES.reduce((left, code) => left.replaceAll(`\u001b[${code}m`, ''), text);
  return /[\p{Cc}\p{Cf}]/u.test(plain.replaceAll('\n', ''));
}

/** Every file below a directory, by its path in there. */
export function readAll(directory: string): [string, string][] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(directory.length + 1), readFileSync(path, 'utf8')];
    });
}

/** Of a job in a directory of its own, with these files: what `check`, `plan` and `run` of it hold that they must not. */
export async function findLeaksOfJob(
  text: string,
  files: Readonly<Record<string, string>>,
  options: Omit<Looking, 'isTerminal'> = {},
): Promise<string[]> {
  const directory = aFolder({ ...files, 'sale.yaml': text });
  const flags = { job: join(directory, 'sale.yaml'), json: undefined };
  const commands = [
    (terminal: Terminal) => runVerb('check', check, { ...flags, online: false }, terminal),
    (terminal: Terminal) => planJob(flags, terminal),
    (terminal: Terminal) => runJob(flags, terminal),
  ];
  const leaks: string[] = [];
  for (const [at, command] of commands.entries())
    leaks.push(...(await findLeaks(command, { ...options, isTerminal: at !== 1 })));
  for (const [path, written] of readAll(join(directory, 'out'))) if (holdsSecret(written)) leaks.push(path);
  return [...new Set(leaks)];
}

type Looking = { isTerminal: boolean; env?: Readonly<Record<string, string>>; isLeak?: (text: string) => boolean };

/** What the streams of a command hold that they must not; `isLeak` says what must not stand in a log or an error. */
export async function findLeaks(command: (terminal: Terminal) => Promise<unknown>, looking: Looking) {
  const { isTerminal, env = SECRETS, isLeak = holdsNumber } = looking;
  const { terminal, said } = aTerminal({ env, isStdoutTerminal: isTerminal, isStderrTerminal: isTerminal });
  await command(terminal).catch((error: unknown) => {
    said.stderr += `${formatError(error)}${escapeJson(JSON.stringify(describeFailure(error)))}`;
  });
  return Object.entries(said).flatMap(([stream, text]) => [
    ...(holdsSecret(text) ? [`a secret in ${stream}`] : []),
    ...(stream === 'stderr' && isLeak(text) ? [`a number or text in ${stream}`] : []),
    ...(steersTerminal(text) ? [`what steers a terminal in ${stream}`] : []),
  ]);
}
