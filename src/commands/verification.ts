import { printResult } from '../command/print.js';
import { type CommandEnd, type LoggedTerminal, logCommand } from '../command/runner.js';
import { escapeText, type Terminal } from '../command/terminal.js';
import { jobDirectoryOf, sandboxLedgerOf } from '../command/with-job.js';
import { ServiceError, UserError } from '../domain/errors.js';
import { CODE_LENGTH, MAX_CODE_ATTEMPTS, SESSION_STATUSES } from '../domain/service-facts.js';
import type { Job } from '../job/job.js';
import { omitUndefined } from '../job/omit-undefined.js';
import { verificationStartStep } from '../job/schema/steps/verification.js';
import { normalizeNumber } from '../normalize/number/number.js';
import { EXIT } from '../report/exit-code.js';
import {
  type CodeInput,
  checkCode,
  createSession,
  readSession,
  type Session,
  VERIFICATION_CODE,
} from '../service/areas/verification.js';
import type { CallService } from '../service/endpoint.js';
import { callService } from './support/call-service.js';

export interface StartFlags {
  readonly job: string;
  /** International, or national with `country`. */
  readonly number: string;
  readonly country: string | undefined;
  readonly brand: string | undefined;
  readonly template: string | undefined;
  readonly source: string | undefined;
  readonly json: boolean | undefined;
}

/** `volley verify start NUMBER`: sends a code by SMS, and prints the session that it is checked in. */
export function startVerification(flags: StartFlags, terminal: Terminal): Promise<number> {
  return logCommand(terminal, { command: 'verify start', file: flags.job }, (name) =>
    startNamed(flags, { terminal, name }),
  );
}

async function startNamed(flags: StartFlags, { terminal, name }: LoggedTerminal): Promise<CommandEnd> {
  const { job, json, brand, template, source } = flags;
  const destination = readDestination(flags);
  assertTexts({ brand, template, source });
  const { session, ledger } = await callService(
    terminal,
    { job, json, nameFields: name, area: 'verification' },
    async (single) => ({
      session: await single.call(createSession, {
        destination,
        ...omitUndefined({ brand, template }),
        ...(source === undefined ? {} : { sms: { source } }),
      }),
      ledger: single.job.service.sandbox ? ledgerOf(single.job) : undefined,
    }),
  );
  const where =
    ledger === undefined ? [] : [`The sandbox sends no SMS: the code is \`shared.code\` in the last line of ${ledger}`];
  await printSession(session, { json, more: ledger === undefined ? {} : { ledger }, after: where }, terminal);
  name({ session: session.sessionId });
  return { exitCode: EXIT.ok, reason: `a code was sent, the session is ${session.status}` };
}

/** E.164, by the rules of a step. */
function readDestination({ number, country }: StartFlags): string {
  const read = normalizeNumber(number, country);
  if (read.ok) return read.e164;
  const reason = read.reason.replace(/^The cell/, 'The argument');
  throw new UserError('bad-flag', `Cannot start a verification, no code was sent. ${reason}`, {
    hint: 'Give an international number, such as +6591234567, or a national one with --country.',
  });
}

const textsOfStep = verificationStartStep.pick({ brand: true, template: true, source: true });

/** What a step of a job may not send, a single call may not either. */
function assertTexts(texts: Pick<StartFlags, 'brand' | 'template' | 'source'>): void {
  const refuse = (flag: string, problem: string): never => {
    throw new UserError('bad-flag', `Cannot start a verification, no code was sent: --${flag} ${problem}`);
  };
  const issue = textsOfStep.safeParse(omitUndefined(texts)).error?.issues[0];
  if (issue !== undefined) {
    const flag = issue.path[0] as keyof typeof texts;
    refuse(flag, `is ${JSON.stringify(texts[flag])}, ${issue.message.replace(/^[A-Z][^:]*: (?=expected)/, '')}`);
  }
  if (texts.template?.includes('{brand}') === true && texts.brand === undefined) {
    refuse('brand', 'is missing, expected the name that the template has {brand} for');
  }
}

function ledgerOf(job: Job): string {
  return sandboxLedgerOf(jobDirectoryOf(job));
}

export interface CheckFlags {
  readonly job: string;
  readonly session: string;
  /** Undefined: the status is read, and nothing changes. */
  readonly code: string | undefined;
  readonly json: boolean | undefined;
}

/** `volley verify check SESSION [CODE]`: exit 0 for a right code, 1 for a wrong one and for a session that had ended. */
export function checkVerification(flags: CheckFlags, terminal: Terminal): Promise<number> {
  return logCommand(terminal, { command: 'verify check', file: flags.job, session: flags.session }, (name) =>
    checkNamed(flags, { terminal, name }),
  );
}

async function checkNamed(flags: CheckFlags, { terminal, name }: LoggedTerminal): Promise<CommandEnd> {
  const { job, json, session: sessionId, code } = flags;
  if (code !== undefined && !VERIFICATION_CODE.test(code)) {
    const expected = `expected ${CODE_LENGTH.min} to ${CODE_LENGTH.max} letters or digits`;
    throw new UserError('bad-flag', `Cannot check a verification code: it does not look like one, ${expected}`);
  }
  const { session, check } = await callService(
    terminal,
    { job, json, nameFields: name, area: 'verification' },
    async ({ call }) => {
      const found = await call(readSession, { sessionId });
      if (code === undefined) return { session: found, check: undefined };
      if (found.status !== 'WAITING') return { session: found, check: describeNotChecked(found) };
      const checked = await checkThenAsk(call, { sessionId, code });
      return { session: checked, check: describeCheck(checked) };
    },
  );
  if (check === undefined) {
    await printSession(session, { json }, terminal);
    return { exitCode: EXIT.ok, reason: `the session is ${session.status}` };
  }
  const exitCode = EXIT_OF_CHECK[check.verdict];
  const state = exitCode === EXIT.inDoubt ? 'in-doubt' : 'done';
  await printSession(
    session,
    { json, more: { check: check.verdict, state, exitCode }, before: [check.text] },
    terminal,
  );
  return { exitCode, reason: check.text };
}

interface Check {
  readonly verdict: 'right' | 'wrong' | 'too-late' | 'not-checked' | 'unknown';
  readonly text: string;
}

const EXIT_OF_CHECK: Readonly<Record<Check['verdict'], number>> = {
  right: EXIT.ok,
  wrong: EXIT.rejected,
  'too-late': EXIT.rejected,
  'not-checked': EXIT.rejected,
  unknown: EXIT.inDoubt,
};

/** For a session that has ended the service says how, whatever code it gets. */
function describeNotChecked({ status }: Session): Check {
  return { verdict: 'not-checked', text: `The session was ${status} already: this code was not checked` };
}

/** What the status of a waiting session says of the code that was sent. */
function describeCheck({ status, attempt }: Session): Check {
  switch (status) {
    case 'VERIFIED':
      return { verdict: 'right', text: 'The code is right' };
    case 'WAITING':
      return { verdict: 'wrong', text: `The code is wrong${attempt === undefined ? '' : describeTriesLeft(attempt)}` };
    case 'FAILED':
      return { verdict: 'wrong', text: 'The code is wrong, no tries left' };
    case 'EXPIRED':
      return { verdict: 'too-late', text: 'The code came too late' };
    default:
      return { verdict: 'unknown', text: 'The service does not say whether the code is right' };
  }
}

function describeTriesLeft(attempt: number): string {
  const left = MAX_CODE_ATTEMPTS - attempt;
  return left > 0 ? `, ${left} ${left === 1 ? 'try' : 'tries'} left` : '';
}

/** The status resolves a check whose answer was lost, except while the session waits: the code may be among the wrong ones. */
async function checkThenAsk(call: CallService, input: CodeInput): Promise<Session> {
  try {
    return await call(checkCode, input);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'in-doubt') throw error;
    const session = await call(readSession, { sessionId: input.sessionId }).catch(() => undefined);
    if (session === undefined || session.status === 'WAITING') throw error;
    return session;
  }
}

const FINAL: ReadonlySet<string> = new Set(SESSION_STATUSES.filter((status) => status !== 'WAITING'));

async function printSession(
  session: Session,
  told: { json: boolean | undefined; more?: object; before?: readonly string[]; after?: readonly string[] },
  terminal: Terminal,
): Promise<void> {
  const { sessionId, status, attempt, expiresAt, retryAfter, destination, verifyUri, resourceUri } = session;
  const json = {
    sessionId,
    status,
    attempt: attempt ?? null,
    expiresAt: expiresAt ?? null,
    retryAfter: retryAfter ?? null,
    destination: destination ?? null,
    verifyUri: verifyUri ?? null,
    resourceUri: resourceUri ?? null,
    ...told.more,
  };
  const isOver = FINAL.has(status);
  const lines = [
    ...(told.before ?? []),
    `Session ${sessionId}: ${status}`,
    ...(attempt === undefined ? [] : [`  wrong codes  ${attempt}`]),
    ...(expiresAt === undefined || isOver ? [] : [`  ends         ${expiresAt}`]),
    ...(retryAfter === undefined || isOver ? [] : [`  no SMS until ${retryAfter}`]),
    ...(told.after ?? []),
  ];
  await printResult(terminal, told, { json, text: `${lines.map(escapeText).join('\n')}\n` });
}
