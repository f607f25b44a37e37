import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { runVerb } from '../../src/command/runner.js';
import type { Terminal } from '../../src/command/terminal.js';
import type { UserError } from '../../src/domain/errors.js';
import type { RetryOf } from '../../src/plan/format/plan-file.js';
import { readRunName } from '../../src/plan/format/run-directories.js';
import type { SmsEntry } from '../../src/sandbox/sms/batch-schema.js';
import { report } from '../../src/verbs/report.js';
import { settle } from '../../src/verbs/settle.js';
import { aTerminal } from '../command/a-terminal.js';
import { applyRun, planJob, retryRows, runJob } from '../command/give-verb.js';
import { aJob, anSmsStep } from '../e2e/a-job.js';
import { aWorkspace } from '../e2e/a-workspace.js';
import { readOutput } from '../e2e/account.js';
import { anEventLine, aReceipt } from '../listen/events.js';

export interface Given {
  readonly code: number | undefined;
  /** What was printed, as JSON. */
  readonly told: { readonly directory: string; readonly [key: string]: unknown };
  readonly error: UserError | undefined;
}

const INBOX = { input: { files: 'in/*.csv' } };

/**
 * The commands in this process, against a sandbox whose ledger is the judge. The job sends whatever lies in `in/`, one message a
 * request unless the step says otherwise.
 */
export async function aCommandLine(step: object = {}) {
  const workspace = await aWorkspace();
  const { sandbox } = workspace;
  const job = workspace.path('job.yaml');
  const writeJob = (more: object = {}) =>
    workspace.writeJob(aJob(workspace, { steps: [anSmsStep({ ...INBOX, batchSize: 1, ...step, ...more })] }));
  writeJob();

  const give = async (command: (host: Terminal) => Promise<number>): Promise<Given> => {
    const { terminal, said } = aTerminal({
      env: { VOLLEY_API_KEY: sandbox.credentials.apiKey },
      isStderrTerminal: false,
    });
    const ended = await command(terminal).then(
      (code) => ({ code, error: undefined }),
      (error: UserError) => ({ code: undefined, error }),
    );
    return { ...ended, told: said.stdout === '' ? { directory: '' } : JSON.parse(said.stdout) };
  };
  const json = true;
  const rowsOf = async (run: string, output: Parameters<typeof readOutput>[2]) => {
    const { told } = await give((host) => runVerb('report', report, { run, campaign: undefined, json }, host));
    return readOutput(told as unknown as Parameters<typeof readOutput>[0], 1, output);
  };
  return {
    workspace,
    writeJob,
    write: (name: string, text: string) => workspace.write(`in/${name}`, text),
    /** Takes a file out of the inbox again. */
    take: (name: string) => {
      const text = workspace.read(`in/${name}`);
      rmSync(workspace.path(`in/${name}`));
      return text;
    },
    run: () => give((host) => runJob({ job, json }, host)),
    plan: () => give((host) => planJob({ job, json }, host)),
    apply: (run: string) =>
      give((host) => applyRun({ run, confirm: undefined, ignoreChangedInputs: true, json }, host)),
    retry: (run: string, only: RetryOf['only']) => give((host) => retryRows({ run, only, json }, host)),
    settle: (run: string, assume: 'sent' | 'not-sent', confirm: number) =>
      give((host) => runVerb('settle', settle, { run, export: undefined, assume, confirm, adopt: false, json }, host)),
    rowsOf,
    /** The rejections file of a run, as it would be written now. */
    rejectionsOf: async (run: string) => {
      await rowsOf(run, 'rejections');
      return readFileSync(`${run}/1-sms.rejections.csv`, 'utf8');
    },
    /** The service sends a receipt of each message of a run that it took, and the listener keeps it. */
    receive: async (run: string, state = 'delivered') => {
      const plan = readRunName(basename(run));
      const own = (await workspace.sms()).filter((entry) => entry.clientMessageId?.startsWith(`${plan}-`));
      writeFileSync(`${run}/receipts.ndjson`, own.map((entry) => aReceiptOf(entry, state)).join(''));
      return own.length;
    },
    forget: (run: string) => rmSync(run, { recursive: true }),
    /** Whom the service took messages for, sorted. */
    sentTo: () => workspace.destinations(),
  };
}

function aReceiptOf({ clientMessageId, destination, umid }: SmsEntry, state: string): string {
  return anEventLine(aReceipt({ payload: { clientMessageId, destination, umid }, status: { state } }));
}
