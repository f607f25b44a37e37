import { z } from 'zod';
import type { Result } from '../command/context.js';
import { callOnce, callService } from '../command/single-call.js';
import { escapeText } from '../command/terminal.js';
import { jobDirectoryOf, sandboxLedgerOf } from '../command/with-job.js';
import { ServiceError, UserError } from '../domain/errors.js';
import { CODE_LENGTH, MAX_CODE_ATTEMPTS, SESSION_STATUSES } from '../domain/service-facts.js';
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
import { argument, single, text } from './flags.js';
import { defineVerb, type Group } from './verb.js';

const start = defineVerb({
  args: { number: argument('International (+6591234567), or national with --country') },
  flags: {
    country: text('Two-letter code of the country that a national number belongs to'),
    brand: text('Name that replaces {brand} in the text'),
    template: text('The SMS, with {code} and optionally {brand} (default: the text of the service)'),
    source: text('Sender id'),
    ...single,
  },
  examples: [['+6591234567 --brand ACME --job jobs/number-check.yaml', '']],
  run: async ({ job, number, country, brand, template, source }, context): Promise<Result> => {
    const destination = readDestination(number, country);
    assertTexts({ brand, template, source });
    const sms = source === undefined ? {} : { sms: { source } };
    return callOnce(context, job, {
      endpoint: createSession,
      input: { destination, ...omitUndefined({ brand, template }), ...sms },
      result: (session, job) => {
        context.name({ session: session.sessionId });
        const reason = `a code was sent, the session is ${session.status}`;
        if (!job.service.sandbox) return { json: toJson(session), text: formatSession(session), reason };
        const ledger = sandboxLedgerOf(jobDirectoryOf(job));
        const where = `The sandbox sends no SMS: the code is \`shared.code\` in the last line of ${ledger}`;
        return {
          json: { ...toJson(session), ledger },
          text: `${formatSession(session)}${escapeText(where)}\n`,
          reason,
        };
      },
    });
  },
});

/** E.164, by the rules of a step. */
function readDestination(number: string, country: string | undefined): string {
  const read = normalizeNumber(number, country);
  if (read.ok) return read.e164;
  const reason = read.reason.replace(/^The cell/, 'The argument');
  throw new UserError('bad-flag', `Cannot start a verification, no code was sent. ${reason}`, {
    hint: 'Give an international number, such as +6591234567, or a national one with --country.',
  });
}

const { brand, template, source } = verificationStartStep.shape;
const textsOfStep = z.object({ brand, template, source });

/** What a step of a job may not send, a single call may not either. */
function assertTexts(texts: Readonly<Record<'brand' | 'template' | 'source', string | undefined>>): void {
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

/** Exits with 0 for a right code, 1 for a wrong one and for a session that had ended. Without a code nothing changes. */
const check = defineVerb({
  args: {
    session: argument('Id of the session, as start shows it'),
    code: {
      describe: 'The code that the person entered. Checked only while the session waits; a wrong one uses up a try',
      type: 'string',
    },
  },
  flags: single,
  examples: [['0b61d24f-…-6b1d 4711 --job jobs/number-check.yaml', '']],
  names: ({ job, session }) => ({ file: job, session }),
  run: async ({ job, session: sessionId, code }, context): Promise<Result> => {
    if (code === undefined) {
      return callOnce(context, job, {
        endpoint: readSession,
        input: { sessionId },
        result: (session) => ({
          json: toJson(session),
          text: formatSession(session),
          reason: `the session is ${session.status}`,
        }),
      });
    }
    if (!VERIFICATION_CODE.test(code)) {
      const expected = `expected ${CODE_LENGTH.min} to ${CODE_LENGTH.max} letters or digits`;
      throw new UserError('bad-flag', `Cannot check a verification code: it does not look like one, ${expected}`);
    }
    return callService(context, { job, area: 'verification' }, async ({ call }) => {
      const found = await call(readSession, { sessionId });
      const isOver = found.status !== 'WAITING';
      const session = isOver ? found : await checkThenAsk(call, { sessionId, code });
      const { verdict, text } = isOver ? describeNotChecked(found) : describeCheck(session);
      const exitCode = EXIT_OF_CHECK[verdict];
      const state = exitCode === EXIT.inDoubt ? 'in-doubt' : 'done';
      return {
        json: { ...toJson(session), check: verdict, state, exitCode },
        text: `${text}\n${formatSession(session)}`,
        exitCode,
        reason: text,
      };
    });
  },
});

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

function toJson(session: Session) {
  const { sessionId, status, attempt, expiresAt, retryAfter, destination, verifyUri, resourceUri } = session;
  return {
    sessionId,
    status,
    attempt: attempt ?? null,
    expiresAt: expiresAt ?? null,
    retryAfter: retryAfter ?? null,
    destination: destination ?? null,
    verifyUri: verifyUri ?? null,
    resourceUri: resourceUri ?? null,
  };
}

const FINAL: ReadonlySet<string> = new Set(SESSION_STATUSES.filter((status) => status !== 'WAITING'));

function formatSession({ sessionId, status, attempt, expiresAt, retryAfter }: Session): string {
  const isOver = FINAL.has(status);
  const lines = [
    `Session ${sessionId}: ${status}`,
    ...(attempt === undefined ? [] : [`  wrong codes  ${attempt}`]),
    ...(expiresAt === undefined || isOver ? [] : [`  ends         ${expiresAt}`]),
    ...(retryAfter === undefined || isOver ? [] : [`  no SMS until ${retryAfter}`]),
  ];
  return `${lines.map(escapeText).join('\n')}\n`;
}

/** `volley verify start|check` */
export const verify: Group = [
  { command: 'start <number>', about: 'Send a code by SMS, and show the session that it is checked in', verb: start },
  {
    command: 'check <session> [code]',
    about: 'Check a code: exit code 0 if it is right, else 1; without a code only shows the status of the session',
    verb: check,
  },
];
