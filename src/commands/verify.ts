import { ServiceError } from '../errors.js';
import { EXIT } from '../report/exit-code.js';
import type { CallService } from '../service/endpoint.js';
import { type CodeInput, checkCode, createSession, readSession, type Session } from '../service/verification.js';
import { callService } from './call-service.js';
import { keepGiven } from './keep-given.js';
import { printResult } from './print.js';
import { escapeText, type Terminal } from './terminal.js';

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
export async function startVerification(flags: StartFlags, terminal: Terminal): Promise<number> {
  const { job, number, country, brand, template, source } = flags;
  const session = await callService(terminal, { job, area: 'verification' }, ({ call }) =>
    call(createSession, {
      destination: number,
      ...keepGiven({ country: country?.toUpperCase(), brand, template }),
      ...(source === undefined ? {} : { sms: { source } }),
    }),
  );
  await printSession(session, flags, terminal);
  return EXIT.ok;
}

export interface CheckFlags {
  readonly job: string;
  readonly session: string;
  /** Undefined: the status is read, and nothing changes. */
  readonly code: string | undefined;
  readonly json: boolean | undefined;
}

/** `volley verify check SESSION [CODE]`: 0 for a right code, 1 for a wrong one and for a session that is over. */
export async function checkVerification(flags: CheckFlags, terminal: Terminal): Promise<number> {
  const { job, session: sessionId, code } = flags;
  const session = await callService(terminal, { job, area: 'verification' }, ({ call }) =>
    code === undefined ? call(readSession, { sessionId }) : checkThenAsk(call, { sessionId, code }),
  );
  await printSession(session, flags, terminal);
  return code === undefined ? EXIT.ok : (EXIT_OF_CHECK[session.status] ?? EXIT.inDoubt);
}

const EXIT_OF_CHECK: Readonly<Record<string, number>> = {
  VERIFIED: EXIT.ok,
  WAITING: EXIT.rejected,
  FAILED: EXIT.rejected,
  EXPIRED: EXIT.rejected,
};

/** What came of a check whose answer was lost the status tells, save while the session waits: the code may be among the wrong ones. */
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

async function printSession(
  session: Session,
  flags: { readonly json: boolean | undefined },
  terminal: Terminal,
): Promise<void> {
  const { sessionId, status, attempt, expiresAt, retryAfter, destination } = session;
  const json = {
    sessionId,
    status,
    attempt: attempt ?? null,
    expiresAt: expiresAt ?? null,
    retryAfter: retryAfter ?? null,
    destination: destination ?? null,
  };
  const lines = [
    `Session ${sessionId}: ${status}`,
    ...(attempt === undefined ? [] : [`  wrong codes  ${attempt}`]),
    ...(expiresAt === undefined ? [] : [`  ends         ${expiresAt}`]),
    ...(retryAfter === undefined ? [] : [`  no SMS until ${retryAfter}`]),
  ];
  await printResult(terminal, flags, { json, text: `${lines.map(escapeText).join('\n')}\n` });
}
