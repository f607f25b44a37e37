import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { IN_PID_NAMESPACE, needPidNamespace } from '../../e2e/of-the-machine.js';
import { aFolder } from '../../plan/a-plan.js';
import { readDockerfile } from '../dockerfile.js';
import { isDesk, listWorkloads } from './manifest.js';
import { readOverlay } from './read-overlay.js';

const namespace = needPidNamespace();
const [, , script = ''] = listWorkloads(readOverlay('nightly')).find(isDesk)?.container.command ?? [];

/** In place of `volley`: it ends some time after SIGTERM, or by itself. */
const COMMAND = `#!/usr/bin/env node
const { appendFileSync } = require('node:fs');
const end = (why) => setTimeout(() => { appendFileSync('said', why); process.exit(); }, 300);
process.on('SIGTERM', () => end('ended in order, '));
appendFileSync('said', 'begun, ');
if (process.argv[2] === 'short') end('ended by itself, ');
else setInterval(() => {}, 1000);
`;
const BEGUN = 'until [ -s said ]; do sleep 0.05; done';

test.skipIf(namespace.isMissing)(
  namespace.title('SIGTERM ends what runs at the desk in order, and then the desk'),
  () => {
    const sleeps = "grep -qsz '^3600$' /proc/[0-9]*/cmdline";
    const people = `volley apply & ${BEGUN}\n(until ${sleeps}; do sleep 0.05; done; kill -TERM 1) &`;

    expect(runDesk(script, people)).toBe('begun, ended in order, ');
  },
);

test.skipIf(namespace.isMissing)(namespace.title('its hour does not end what runs at the desk'), () => {
  const soon = script.replace('sleep 3600', 'sleep 0').replace('sleep 10', 'sleep 0.1');

  expect(runDesk(soon, `volley short & ${BEGUN}`)).toBe('begun, ended by itself, ');
});

test.skipIf(namespace.isMissing)(namespace.title('after its hour a desk at which nothing runs ends at once'), () => {
  expect(runDesk(script.replace('sleep 3600', 'sleep 0'), 'touch said')).toBe('');
});

test('the desk knows commands by the path that they have in the image', () => {
  const link = readDockerfile()
    .flatMap(({ instructions }) => instructions)
    .find(({ text }) => text.includes('ln -s /app/dist/cli.js /usr/local/bin/volley'));

  expect(link).toBeDefined();
  expect(script).toContain("'/bin/[v]olley$'");
});

/** The script as process 1, after what people do; what the command said meanwhile. */
function runDesk(desk: string, people: string): string {
  const directory = aFolder();
  mkdirSync(join(directory, 'bin'));
  writeFileSync(join(directory, 'bin/volley'), COMMAND);
  chmodSync(join(directory, 'bin/volley'), 0o755);
  const env = { ...process.env, PATH: `${join(directory, 'bin')}:${process.env.PATH}` };
  const shell = ['sh', '-c', `${people}\nexec sh -c "$0"`, desk];
  execFileSync('unshare', [...IN_PID_NAMESPACE, ...shell], { cwd: directory, env, timeout: 20_000 });
  return readFileSync(join(directory, 'said'), 'utf8');
}
