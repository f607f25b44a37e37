import { expect, test } from 'vitest';
import { aJob, numbersOf, people } from '../../e2e/a-job.js';
import { Machine } from '../../e2e/a-machine.js';
import { aWorkspaceInProcess as aWorkspace } from '../../e2e/a-workspace.js';
import { until } from '../../e2e/command.js';
import { readPage, readSection } from '../../pages/page.js';
import { listWorkloads } from './manifest.js';
import { readOverlay } from './read-overlay.js';

const page = readPage('jobs/kubernetes/README.md');
const section = readSection({ ...page, prose: page.text }, 'A node died at night');
const { container } = listWorkloads(readOverlay('nightly-ha')).find(({ cron }) => cron?.suspend !== true)!;

/** With two processes and a directory: the job of the kit on two machines, and the commands of the page in their order. */
test('a node that dies at night, by the page', async () => {
  const workspace = await aWorkspace({ kind: 'latency', delayMs: 600_000, nth: 2 });
  workspace.write('inbox/people.csv', people(50));
  const [step] = (aJob(workspace) as { steps: [object] }).steps;
  workspace.writeJob(aJob(workspace, { name: 'nightly', steps: [{ ...step, input: { files: 'inbox/*' } }] }));
  const command = (container.args ?? [])
    .filter((arg) => !arg.startsWith('--metrics'))
    .map((arg) => arg.replace(/^.*\/nightly\.yaml$/, 'job.yaml'));
  expect(command).toEqual(['run', 'job.yaml', '--standby']);
  const leader = new Machine(workspace, 'node-a').start(...command);
  await until(() => workspace.requests().length === 2);
  const alive = new Machine(workspace, 'node-b', -120_000);
  const standby = alive.start(...command);
  await standby.says('stands by: process');
  leader.signal('SIGKILL');
  await leader.ended;
  alive.passes(60_000);
  const { code, stderr } = await workspace.finish(standby);

  const [, before, after] = /`(takes over the job: )…( [^`]+)`/.exec(section) ?? [];
  expect(stderr).toMatch(new RegExp(`${before}process \\d+ on node-a${after}`));
  expect(code).toBe(3);
  const shown = [];
  for (const [, written = ''] of section.matchAll(/kubectl exec (?:-it )?job\/desk -- volley (.*)/g)) {
    const args = written.replaceAll('/data/', '').split(' ');
    const end = await workspace.volley(...args, '--json');
    expect([0, 3], `${written}: ${end.stderr}`).toContain(end.code);
    shown.push(JSON.parse(end.stdout));
  }
  expect(shown).toMatchObject([
    { runs: [{ state: 'finished', exitCode: 3, balance: { accepted: 40, inDoubt: 10 } }] },
    { steps: [{ balance: { accepted: 40, inDoubt: 10, unprocessed: 0 } }] },
    { balance: { accepted: 40, inDoubt: 10, unprocessed: 0 } },
  ]);
  expect(await workspace.destinations()).toEqual([...numbersOf(10), ...numbersOf(30, 21)].sort());
});
