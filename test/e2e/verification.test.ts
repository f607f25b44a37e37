import { expect, test } from 'vitest';
import { numberOf, people } from './a-job.js';
import { startMortal } from './a-mortal-command.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';
import { aJobOfAreas, IN_ORDER, ledgerOf, untilAccepted } from './area-jobs.js';
import { until } from './command.js';

test.concurrent('a session is made once for each number, and the results say all that the service said of it', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', `${people(3)}Again,${numberOf(2)}\n`);
  workspace.writeJob(aJobOfAreas(workspace, [aStart({ brand: 'ACME', template: '{brand} {code}', codeLength: 6 })]));

  const { code, summary } = await workspace.run();

  expect(code).toBe(0);
  expectEveryRowOnce(summary);
  expect(summary.steps[0]?.skips).toEqual({ duplicate: 1 });
  const sent = await ledgerOf(workspace, 'verification');
  expect(sent.map(({ event, text }) => [event, /^ACME \d{6}$/.test(text)])).toEqual(
    sent.map(() => ['code-sent', true]),
  );
  expect(
    readOutput(summary, 1, 'results').map((row) => [
      row._sessionId,
      row._destination,
      row._status,
      row._attempt,
      row._expiresAt,
      row._retryAfter,
    ]),
  ).toEqual(
    sent.map((entry) => [
      entry.sessionId,
      `+${entry.destination}`,
      entry.status,
      String(entry.attempt),
      entry.expiresAt,
      entry.nextSmsAfter,
    ]),
  );
  expect(sent.map(({ destination }) => `+${destination}`)).toEqual([1, 2, 3].map(numberOf));
});

test.concurrent('a number that may not be sent to again yet is rejected with the time at which it may, where the job says so', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(1));
  workspace.writeJob(aJobOfAreas(workspace, [aStart({ resendingInterval: 600, whenTooEarly: 'reject' })]));
  await workspace.run();

  const { code, summary } = await workspace.run('--again');

  expect(code).toBe(1);
  const [row] = readOutput(summary, 1, 'rejections');
  expect(row).toMatchObject({ _stage: 'send', _code: '1400' });
  const [sent, ...more] = await ledgerOf(workspace, 'verification');
  expect(more).toEqual([]);
  const told = /the next is allowed by (\S+)/.exec(row?._reason ?? '')?.[1] ?? '';
  expect(Date.parse(told)).toBeGreaterThanOrEqual(Date.parse(sent?.nextSmsAfter ?? ''));
});

test.concurrent('a right code is accepted, a wrong one rejected with the attempts that were used', async () => {
  const { workspace, sessions } = await someSessions(2);
  workspace.write('codes.csv', codes([sessions[0]!], [sessions[1]!, WRONG]));
  workspace.writeJob(aJobOfAreas(workspace, [aCheck()]));

  const { code, summary } = await workspace.run();

  expect(code).toBe(1);
  expectEveryRowOnce(summary);
  expect(readOutput(summary, 1, 'results')).toMatchObject([
    { _status: 'VERIFIED', _sessionId: sessions[0]!.sessionId },
  ]);
  expect(readOutput(summary, 1, 'rejections')).toMatchObject([
    { _code: 'WAITING', _reason: 'The code is wrong, 1 wrong attempt; the person can try another' },
  ]);
});

test.concurrent('a check whose answer is lost is settled by the status, and left in doubt only where that does not tell', async () => {
  const { workspace, sessions } = await someSessions(4);
  const [right, wrong, notSeen, last] = sessions as [Sent, Sent, Sent, Sent];
  for (let tries = 0; tries < 4; tries++) await checkByHand(workspace, last.sessionId, WRONG);
  workspace.write('codes.csv', codes([right], [wrong, WRONG], [notSeen], [last, WRONG]));
  workspace.writeJob(aJobOfAreas(workspace, [aCheck()]));
  // Before every check is a read, and one behind it. The third check is not processed, which the read cannot tell from one that is late.
  workspace.setFaults(
    { kind: 'reset-after', area: 'verification', nth: [2, 5, 11] },
    { kind: 'reset-before', area: 'verification', nth: 8 },
  );

  const { code, summary } = await workspace.run();

  expect(code).toBe(3);
  expectEveryRowOnce(summary);
  expect(readOutput(summary, 1, 'results').map((row) => [row.sessionId, row._status])).toEqual([
    [right.sessionId, 'VERIFIED'],
  ]);
  expect(readOutput(summary, 1, 'in-doubt').map((row) => [row.sessionId, row._attempt])).toEqual([
    [wrong.sessionId, '1'],
    [notSeen.sessionId, '0'],
  ]);
  expect(readOutput(summary, 1, 'rejections')).toMatchObject([{ sessionId: last.sessionId, _code: 'FAILED' }]);
  const checked = (await ledgerOf(workspace, 'verification')).filter(({ event }) => event === 'code-checked');
  // Four by hand and one by the run: none was spent twice.
  const [byHand, byRun] = [Array(4).fill(last.sessionId), [right.sessionId, wrong.sessionId, last.sessionId]];
  expect(checked.map(({ sessionId }) => sessionId)).toEqual([...byHand, ...byRun]);
});

test.concurrent('a code for a session that was verified before is not checked, as `verify check` says it of the same session', async () => {
  const { workspace, sessions } = await someSessions(2);
  const [before, now] = sessions as [Sent, Sent];
  await checkByHand(workspace, before.sessionId, before.code);
  workspace.write('codes.csv', codes([before, WRONG], [now]));
  workspace.writeJob(aJobOfAreas(workspace, [aCheck()]));

  const single = await workspace.volley(...['verify', 'check', before.sessionId, WRONG, '--job', 'job.yaml', '--json']);
  const { code, summary } = await workspace.run();

  expect(JSON.parse(single.stdout)).toMatchObject({ status: 'VERIFIED', check: 'not-checked' });
  expect([single.code, code]).toEqual([1, 1]);
  expectEveryRowOnce(summary);
  expect(readOutput(summary, 1, 'results').map((row) => row._sessionId)).toEqual([now.sessionId]);
  expect(readOutput(summary, 1, 'rejections')).toMatchObject([
    { _code: 'not-checked', _reason: 'The session was VERIFIED already: this code was not checked' },
  ]);
});

test.concurrent('killed between a check and its answer, the next run asks for the status and checks no code twice', async () => {
  const { workspace, sessions } = await someSessions(2);
  workspace.write('codes.csv', codes([sessions[0]!], [sessions[1]!]));
  workspace.writeJob(aJobOfAreas(workspace, [aCheck()]));
  workspace.setFaults({ kind: 'stall-after', area: 'verification', nth: 2 });
  const running = startMortal(workspace, 'run', 'job.yaml');
  // Two codes that were sent, and the check.
  await untilAccepted(workspace, 'verification', 3);
  await running.kill();
  workspace.setFaults();

  const { code, summary } = await workspace.run();

  expect(code).toBe(0);
  expect(readOutput(summary, 1, 'results').map((row) => row._status)).toEqual(['VERIFIED', 'VERIFIED']);
  // A read before each check, and the one that settles the first.
  expect(readsOf(workspace)).toHaveLength(5);
  expect(await countChecks(workspace)).toBe(2);
});

test.concurrent('told to stop during a check that gets no good answer, the next run asks for the status and checks no code twice', async () => {
  const { workspace, sessions } = await someSessions(2);
  workspace.write('codes.csv', codes([sessions[0]!], [sessions[1]!]));
  workspace.writeJob(aJobOfAreas(workspace, [aCheck()]));
  workspace.setFaults(
    { kind: 'latency', area: 'verification', nth: 2, delayMs: 1500 },
    { kind: 'status-after', area: 'verification', nth: 2 },
  );
  const running = workspace.start(['run', 'job.yaml']);
  await until(() => readsOf(workspace).length === 2);
  running.signal('SIGTERM');

  const stopped = await workspace.finish(running);

  expect(stopped.code).toBe(75);
  expectEveryRowOnce(stopped.summary);
  expect(stopped.summary.balance).toMatchObject({ inDoubt: 1, unprocessed: 1 });
  expect(readOutput(stopped.summary, 1, 'in-doubt')).toMatchObject([{ _code: 'run-ended' }]);

  const { code, summary } = await workspace.run();

  expect(code).toBe(0);
  expectEveryRowOnce(summary);
  expect(readOutput(summary, 1, 'results').map((row) => row._status)).toEqual(['VERIFIED', 'VERIFIED']);
  // A read before each check, and the one that settles the first.
  expect(readsOf(workspace)).toHaveLength(5);
  expect(await countChecks(workspace)).toBe(2);
});

const WRONG = 'ABCD';

interface Sent {
  readonly sessionId: string;
  readonly code: string;
}

/** Requests for a session, with a code and without. */
function readsOf(workspace: Workspace): unknown[] {
  return workspace.requests().filter(({ method, area }) => area === 'verification' && method === 'GET');
}

async function countChecks(workspace: Workspace): Promise<number> {
  return (await ledgerOf(workspace, 'verification')).filter(({ event }) => event === 'code-checked').length;
}

function aStart(changes: object = {}): object {
  return {
    kind: 'verification.start',
    input: { files: 'people.csv' },
    destination: 'mobile',
    limits: IN_ORDER,
    ...changes,
  };
}

function aCheck(changes: object = {}): object {
  return {
    kind: 'verification.check',
    input: { files: 'codes.csv' },
    session: 'sessionId',
    code: 'code',
    limits: IN_ORDER,
    ...changes,
  };
}

/** A row for each session, with its own code unless another is given. */
function codes(...rows: (readonly [Sent, string?])[]): string {
  return `sessionId,code\n${rows.map(([{ sessionId, code }, given = code]) => `${sessionId},${given}\n`).join('')}`;
}

/** Sessions that the service holds already, as another job would have left them. */
async function someSessions(count: number): Promise<{ workspace: Workspace; sessions: Sent[] }> {
  const workspace = await aWorkspace();
  for (let person = 1; person <= count; person++) {
    await fetch(sessionsOf(workspace), {
      method: 'POST',
      headers: { ...authorizationOf(workspace), 'content-type': 'application/json' },
      body: JSON.stringify({ destination: numberOf(person) }),
    });
  }
  return { workspace, sessions: await ledgerOf(workspace, 'verification') };
}

async function checkByHand(workspace: Workspace, sessionId: string, code: string): Promise<void> {
  await fetch(`${sessionsOf(workspace)}/${sessionId}?code=${code}`, { headers: authorizationOf(workspace) });
}

function sessionsOf({ sandbox }: Workspace): string {
  return `${sandbox.origin}/api/v2/subaccounts/acme_hq/sessions`;
}

function authorizationOf({ sandbox }: Workspace): Record<string, string> {
  return { authorization: `Bearer ${sandbox.credentials.apiKey}` };
}
