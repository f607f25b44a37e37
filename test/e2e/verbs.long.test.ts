import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { people } from './a-job.js';
import { aWorkspace, type Workspace } from './a-workspace.js';

test.concurrent('--version is that of the package, wherever it is asked', async () => {
  const workspace = await aWorkspace();
  workspace.write('package.json', '{ "version": "9.9.9" }');

  const { code, stdout } = await workspace.volley('--version');

  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(code).toBe(0);
  expect(stdout).toMatch(
    new RegExp(
      `^${version} \\(revision (unknown|[0-9a-f]{40}(\\+changes)?); plan format \\d+, journal \\d+, memory \\d+\\)\n$`,
    ),
  );
});

test.concurrent('--help loads no HTTP client, no CSV parser and no server; plan no HTTP client and no server; run no server', async () => {
  const workspace = await aWorkspace();
  workspace.write('people.csv', people(3));
  workspace.change();
  workspace.write('hooks.mjs', HOOKS);
  workspace.write(
    'register.mjs',
    "import { register } from 'node:module';\nregister('./hooks.mjs', import.meta.url);\n",
  );

  const help = await listPackages(workspace, ['--help']);
  const plan = await listPackages(workspace, ['plan', 'job.yaml']);
  const run = await listPackages(workspace, ['run', 'job.yaml']);

  const forPlans = ['csv-parse', 'libphonenumber-js', 'zod', 'yaml', 'pino'];
  expect(help).toContain('yargs');
  expect(help.filter((name) => [...forPlans, 'undici', 'fastify', 'prom-client'].includes(name))).toEqual([]);
  expect(plan).toEqual(expect.arrayContaining(forPlans));
  expect(plan.filter((name) => ['undici', 'fastify', 'prom-client'].includes(name))).toEqual([]);
  expect(run).toEqual(expect.arrayContaining([...forPlans, 'undici']));
  expect(run.filter((name) => ['fastify', 'prom-client'].includes(name))).toEqual([]);
});

const HOOKS = `import { writeSync } from 'node:fs';
export async function load(url, context, next) {
  writeSync(2, 'loaded ' + url + '\\n');
  return next(url, context);
}
`;

/** Those whose files are loaded, and those that loaded files were built from, in which comments name them. */
async function listPackages(workspace: Workspace, args: string[]): Promise<string[]> {
  const { code, stderr } = await workspace.start(args, { nodeArguments: ['--import', './register.mjs'] }).ended;
  expect(code).toBe(0);
  const loaded = [...stderr.matchAll(/^loaded (file:.*)$/gm)].map(([, url = '']) => url);
  const built = loaded.filter((url) => url.includes('/dist/')).map((url) => readFileSync(new URL(url), 'utf8'));
  const named = [...loaded, ...built]
    .join('\n')
    .matchAll(/^(?:file:.*|\/\/ )\/?node_modules\/((?:@[^/]+\/)?[^/]+)\//gm);
  return [...new Set([...named].map(([, name = '']) => name))];
}
