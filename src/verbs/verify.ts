import { escapeText } from '../command/screen.js';
import { callOnce, callService } from '../command/single-call.js';
import { jobDirectoryOf, sandboxLedgerOf } from '../command/with-job.js';
import { ServiceError, UserError } from '../domain/errors.js';
import { omitUndefined } from '../domain/is-object.js';
import { CODE_LENGTH, MAX_CODE_ATTEMPTS } from '../domain/service-facts.js';
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
import { argument, defineBelow, type Group, single, text } from './verb.js';

const start = defineBelow('start <number>', 'Send a code by SMS, and show the session that it is checked in', {
  args: { number: argument('International (+6591234567), or national with --country') },
  flags: {
    country: text('Two-letter code of the country that a national number belongs to'),
    brand: asInStep('brand', 'Name that replaces {brand} in the text'),
    template: asInStep('template', 'The SMS, with {code} and optionally {brand} (default: the text of the service)'),
    source: asInStep('source', 'Sender id'),
    ...single,
  },
  examples: [['+6591234567 --brand ACME --job jobs/number-check.yaml', '']],
  run: async ({ job, number, country, brand, template, source }, context) => {
    const destination = readDestination(number, country);
    if (template?.includes('{brand}') === true && brand === undefined) {
      throw refuse('--brand is missing, expected the name that the template has {brand} for');
    }
    const sms = source === undefined ? {} : { sms: { source } };
    return callOnce(context, job, {
      endpoint: createSession,
      input: { destination, ...omitUndefined({ brand, template }), ...sms },
      result: (session, job) => {
        context.name({ session: session.sessionId });
        const sent = describe(session, `a code was sent, the session is ${session.status}`);
        if (!job.service.sandbox) return sent;
        const ledger = sandboxLedgerOf(jobDirectoryOf(job));
        const where = `The sandbox sends no SMS: the code is \`shared.code\` in the last line of ${ledger}`;
        return { ...sent, json: { ...sent.json, ledger }, text: `${sent.text}${escapeText(where)}\n` };
      },
    });
  },
});

/** What a step of a job may not send, a single call may not either. */
function asInStep(key: 'brand' | 'template' | 'source', about: string) {
  const coerce = (given: string): string => {
    const issue = verificationStartStep.shape[key].safeParse(given).error?.issues[0];
    if (issue === undefined) return given;
    throw refuse(`--${key} is ${JSON.stringify(given)}, ${issue.message.replace(/^[A-Z][^:]*: (?=expected)/, '')}`);
  };
  return { ...text(about), coerce } as const;
}

/** E.164, by the rules of a step. */
function readDestination(number: string, country: string | undefined): string {
  const read = normalizeNumber(number, country);
  if (read.ok) return read.e164;
  throw refuse(
    read.reason.replace(/^The cell/, 'the argument'),
    'Give an international number, such as +6591234567, or a national one with --country.',
  );
}

function refuse(what: string, hint?: string): UserError {
  return new UserError('bad-flag', `Cannot start a verification, no code was sent: ${what}`, { hint });
}

/** Exits with 0 for a right code, 1 for a wrong one and for a session that had ended. Without a code nothing changes. */
const check = defineBelow(
  'check <session> [code]',
  'Check a code: exit code 0 if it is right, else 1; without a code only shows the status of the session',
  {
    args: {
      session: argument('Id of the session, as start shows it'),
      code: {
        describe: 'The code that the person entered. Checked only while the session waits; a wrong one uses up a try',
        type: 'string',
      },
    },
    flags: single,
    examples: [['0b61d24f-…-6b1d 4711 --job jobs/number-check.yaml', '']],
    run: async ({ job, session: sessionId, code }, context) => {
      context.name({ session: sessionId });
      if (code === undefined) {
        return callOnce(context, job, {
          endpoint: readSession,
          input: { sessionId },
          result: (session) => describe(session, `the session is ${session.status}`),
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
        // For a session that has ended the service says how, whatever code it gets.
        const notChecked = `The session was ${found.status} already: this code was not checked`;
        const [check, said] = isOver ? (['not-checked', notChecked] as const) : describeCheck(session);
        const exitCode = check === 'right' ? EXIT.ok : check === 'unknown' ? EXIT.inDoubt : EXIT.rejected;
        const state = check === 'unknown' ? 'in-doubt' : 'done';
        const { json, text, reason } = describe(session, said);
        return { json: { ...json, check, state, exitCode }, text: `${said}\n${text}`, exitCode, reason };
      });
    },
  },
);

type Check = 'right' | 'wrong' | 'too-late' | 'unknown';

function describeCheck({ status, attempt = MAX_CODE_ATTEMPTS }: Session): readonly [Check, said: string] {
  const left = MAX_CODE_ATTEMPTS - attempt;
  switch (status) {
    case 'VERIFIED':
      return ['right', 'The code is right'];
    case 'WAITING':
      return ['wrong', `The code is wrong${left > 0 ? `, ${left} ${left === 1 ? 'try' : 'tries'} left` : ''}`];
    case 'FAILED':
      return ['wrong', 'The code is wrong, no tries left'];
    case 'EXPIRED':
      return ['too-late', 'The code came too late'];
    default:
      return ['unknown', 'The service does not say whether the code is right'];
  }
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

/** As JSON it has every field, null where the answer has none. */
function describe(session: Session, reason: string) {
  const { sessionId, status, attempt = null, expiresAt = null, retryAfter = null } = session;
  const { destination = null, verifyUri = null, resourceUri = null } = session;
  const isOver = status !== 'WAITING';
  const lines = [
    `Session ${sessionId}: ${status}`,
    ...(attempt === null ? [] : [`  wrong codes  ${attempt}`]),
    ...(expiresAt === null || isOver ? [] : [`  ends         ${expiresAt}`]),
    ...(retryAfter === null || isOver ? [] : [`  no SMS until ${retryAfter}`]),
  ];
  return {
    json: { sessionId, status, attempt, expiresAt, retryAfter, destination, verifyUri, resourceUri },
    text: `${lines.map(escapeText).join('\n')}\n`,
    reason,
  };
}

export const verify: Group = [start, check];
