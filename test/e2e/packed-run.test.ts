import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { aContactsStep, anSmsStep, numberOf, people } from './a-job.js';
import { aJobFor, volleyIn, type Workspace } from './a-workspace.js';

const PLAIN = ['1-contacts.requests.ndjson', '1-contacts.rows.ndjson', '2-sms.requests.ndjson', '2-sms.rows.ndjson'];
const PACKED = PLAIN.map((name) => `${name}.gz`);

type Run = Readonly<{ workspace: Workspace; directory: string }>;

/** A finished run with a row that its plan refused, rows that the service refused, and ten in doubt. */
async function aRun(): Promise<Run> {
  const faults = [
    { kind: 'reset-after', area: 'sms', nth: 2 },
    { kind: 'reject-rows', area: 'sms', nth: 1, rows: 0.3 },
  ] as const;
  const workspace = await aJobFor(`${people(40)}Nobody,n/a\n`, { steps: [aContactsStep(), anSmsStep()] }, ...faults);
  const { code, summary } = await workspace.run();
  expect([code, summary.state]).toEqual([3, 'finished']);
  const run = { workspace, directory: workspace.runOf(summary.plan) };
  expect(listPlanFiles(run)).toEqual(PLAIN);
  return run;
}

const listPlanFiles = ({ workspace, directory }: Run) =>
  readdirSync(workspace.path(directory)).filter((name) => /\.(requests|rows)\./.test(name));

function readFiles({ workspace, directory }: Run): Record<string, string> {
  const names = readdirSync(workspace.path(directory)).filter((name) => !/\.(requests|rows)\./.test(name));
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(workspace.path(`${directory}/${name}`), 'latin1')]),
  );
}

test('commands print and write of a packed run what they do of a plain one', async () => {
  const run = await aRun();
  const { workspace, directory } = run;
  const commands = [
    ['report', directory],
    ['status', directory],
    ['apply', directory],
    ['run', 'job.yaml'],
    ['preview', directory, '--count', '50'],
    ['preview', directory, '--row', '37', '--show-numbers'],
    ['preview', directory, '--to', numberOf(23)],
    ['retry', directory, '--only', 'unprocessed'],
    ['retry', directory, '--only', 'filtered'],
    ['cancel', directory],
    ['abandon', directory],
    ['settle', directory, '--assume', 'sent', '--confirm', '9'],
  ];
  const giveAll = async () => {
    const said: { args: string[]; code: number | null; stdout: string; files: object }[] = [];
    for (const args of commands) {
      const { code, stdout } = await workspace.volley(...args);
      said.push({ args, code, stdout, files: readFiles(run) });
    }
    return said;
  };
  const plain = await giveAll();
  expect(plain.map(({ code }) => code)).toEqual([0, 0, 3, 3, 0, 0, 0, 0, 0, 2, 2, 2]);
  // Its plan is smaller than those that are packed.
  await volleyIn(workspace, { runtime: { packFromBytes: 1 } }, 'apply', directory);
  expect(await giveAll()).toEqual(plain);
  expect(listPlanFiles(run)).toEqual(PACKED);
});
