import { expect, test } from 'vitest';
import { numberOf, people } from './a-job.js';
import { startMortal } from './a-mortal-command.js';
import { aWorkspaceInProcess as aWorkspace, type Workspace } from './a-workspace.js';
import { expectEveryRowOnce, readOutput } from './account.js';
import { aJobOfAreas, IN_ORDER, ledgerOf, untilAccepted } from './area-jobs.js';

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

function sessionsOf({ sandbox }: Workspace): string {
  return `${sandbox.origin}/api/v2/subaccounts/acme_hq/sessions`;
}

function authorizationOf({ sandbox }: Workspace): Record<string, string> {
  return { authorization: `Bearer ${sandbox.credentials.apiKey}` };
}
