import { expect, test } from 'vitest';
import type { Summary } from '../../src/report/summary.js';
import { anSmsStep } from '../e2e/a-job.js';
import { expectEveryRowOnce } from '../e2e/account.js';
import { startUntilDone } from '../e2e/command.js';
import { runCommandInProcess } from '../e2e/command-in-process.js';
import { aFolder } from '../plan/a-plan.js';
import { aNetworkRecord, type NetworkRecord } from './network-record.js';

const PEOPLE = 'name,mobile\nAnna,+6591234567\nBudi,+6591234568\n';
const CUSTOMERS = '{"user":{"name":"Anna"}}\n{"user":{"name":"Budi"}}\n{"user":{"name":"Chan"}}\n';

/** Attempts go on while a test looks. */
const MORE_THAN_NONE = expect.toSatisfy((count: number) => count > 0);

function handOff(url: string) {
  const channel = { name: 'Bot', queue: '101', webhook: { name: 'Events', url } };
  return { kind: 'conversations', input: { files: 'customers.ndjson' }, channel };
}

function aDirectory(steps: readonly object[], dlrCallbackUrl?: string): string {
  const notify = { url: 'https://hooks.example.com/ops', on: ['success'] };
  // JSON is YAML.
  const job = JSON.stringify({ service: { sandbox: true, dlrCallbackUrl }, sameText: 'send', notify, steps });
  return aFolder({ 'people.csv': PEOPLE, 'customers.ndjson': CUSTOMERS, 'sale.yaml': job });
}

const start = (cwd: string, { nodeArguments, env }: NetworkRecord, ...args: string[]) =>
  startUntilDone(args, { cwd, env, nodeArguments });

test.each(['https://hooks.example.com/receipts', 'https://192.0.2.7/receipts'])(
  'a job on the sandbox leaves the machine for no address of receipts, such as %s, and events, and its account says so',
  async (receipts) => {
    const record = aNetworkRecord();
    const directory = aDirectory([anSmsStep(), handOff('https://hooks.example.com/events')], receipts);

    const { code, stdout, stderr } = await start(directory, record, 'run', 'sale.yaml').ended;

    expect([code, record.outside], stderr).toEqual([0, []]);
    expect(stderr).toContain('how the job ended was not posted');
    expect(record.started).toBeGreaterThan(0);
    const summary: Summary = JSON.parse(stdout);
    expectEveryRowOnce(summary);
    expect(summary.balance.accepted).toBe(5);

    const report = await runCommandInProcess(['report', summary.directory, '--no-json'], { cwd: directory, env: {} });
    expect(report.stdout).toContain('no message left this machine');
  },
);

test.each([
  [[], false, [] as string[]],
  [['--deliver-outside'], true, ['connect hooks.invalid', 'name hooks.invalid']],
] as const)(
  'volley sandbox %j says on its first line what may leave this machine, and does so',
  async (flags, deliversOutside, outside) => {
    const record = aNetworkRecord();
    const running = start(aDirectory([]), record, 'sandbox', '--port', '0', ...flags);
    const said = JSON.parse(await running.firstLine());
    expect(said).toMatchObject({ origin: expect.any(String), deliversOutside });

    const body = {
      template: { text: 'Hi', dlrCallbackUrl: 'https://hooks.invalid/receipts' },
      messages: [{ destination: '+6591234567' }],
    };
    const address = `${said.origin}/api/v1/subaccounts/acme_hq/messages/batch`;
    const headers = { authorization: `Bearer ${said.credentials.apiKey}`, 'content-type': 'application/json' };
    await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) });
    const counts = async () => (await fetch(`${said.origin}/_sandbox/webhooks`)).json();
    await expect
      .poll(counts, { timeout: 60_000 })
      .toMatchObject(deliversOutside ? { failedAttempts: MORE_THAN_NONE } : { outside: 2 });

    expect(record.outside).toEqual(outside);
  },
);
