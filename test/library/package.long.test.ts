import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import { Running } from '../e2e/command.js';
import { oneIn } from '../one-in.js';
import { aFolder } from '../plan/a-plan.js';
import { Client } from '../sandbox/sandbox-client.js';

const run = promisify(execFile);
const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));

/** What a program does with the package. */
const USE = `
const planned = await plan(job, { directory: import.meta.dirname });
if (planned === undefined) throw new Error('nothing new');
const summary = await apply(planned.directory, { confirm: planned.plan });
const service = createService({ account: 'acme', bases: { contacts: process.env.ORIGIN }, credentials: { apiKey: process.env.KEY ?? '' } });
const contact = await service.contacts.createContact({ firstName: 'Mei', addresses: { msisdn: '+6591234567' } });
let refused;
try {
  await service.contacts.createContact({ addresses: {} });
} catch (error) {
  refused = error instanceof ServiceError ? error.code : String(error);
}
await service.close();
console.log(JSON.stringify({ state: summary.state, accepted: summary.balance.accepted, isNew: contact.isNew, refused }));
`;
const IMPORT = `import { apply, createService, plan, ServiceError } from 'volley';\n`;
const JOB = (name: string) => `{
  name: '${name}',
  service: { sandbox: true },
  sameText: 'send',
  steps: [{ kind: 'sms', input: { files: 'people.csv' }, destination: 'mobile', template: { source: 'ACME', text: 'Hi {{ name }}' } }],
  output: 'out',
}`;
const PAGE_JOB = {
  name: 'page',
  service: { sandbox: true },
  steps: [{ kind: 'sms', input: { files: 'people.csv' }, destination: 'mobile', template: { text: 'Hi' } }],
};
const SAID = { state: 'finished', accepted: 2, isNew: true, refused: 'refused' };

const TSCONFIG = {
  compilerOptions: {
    ...{ module: 'nodenext', target: 'es2023', strict: true, exactOptionalPropertyTypes: true },
    ...{ skipLibCheck: false, types: ['node'] },
  },
  include: ['*.mts'],
};

const PAGE = readFileSync(join(CHECKOUT, 'jobs/reference/library.md'), 'utf8');
const EXAMPLES = [...PAGE.matchAll(/^```js\n(.*?)^```$/gms)].map(([, text]) => text ?? '');

/**
 * As any program would install it: npm reads what package.json depends on, and leaves this checkout and HOME alone. `VOLLEY_NPM_CACHE` names
 * npm's cache of a machine that has just installed the checkout.
 */
async function installPackage(folder: string): Promise<string> {
  const cache = process.env.VOLLEY_NPM_CACHE ?? join(folder, 'cache');
  const quiet = ['--ignore-scripts', '--prefer-offline', '--cache', cache];
  const pack = ['pack', ...quiet, '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', pack, { cwd: CHECKOUT });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const install = ['install', ...quiet, '--no-audit', '--no-fund'];
  const { stderr } = await run('npm', [...install, `./${filename}`, '@types/node@20'], { cwd: folder });
  return stderr;
}

describe('the packed package, installed in an empty folder', () => {
  const folder = aFolder({ 'people.csv': 'name,mobile\nMei,+6591234561\nTan,+6591234562\n' });
  let sandbox: Sandbox;
  let warnings: string;
  beforeAll(async () => {
    warnings = await installPackage(folder);
    sandbox = await startSandbox();
    // The registry may be slow.
  }, 180_000);
  afterAll(() => sandbox?.close());

  /** A program that ends by itself, with what it said as JSON. */
  async function say(program: string): Promise<unknown> {
    const env = { PATH: process.env.PATH ?? '', ORIGIN: sandbox.origin, KEY: sandbox.credentials.apiKey };
    await sandbox.clearLedger();
    const { stdout, stderr } = await run(process.execPath, [program], { cwd: folder, env });
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  }

  test('installs on this Node without a package that asks for a newer one', () => {
    expect(warnings).not.toContain('EBADENGINE');
  });

  test.each(oneIn(2, ['typescript', 'typescript-7']))(
    'compiles under strict %s, its own types and the examples of the page checked too; what comes of it runs a job, creates a contact, and prints nothing of its own',
    async (name) => {
      const typed = `import type { Summary, WrittenJob } from 'volley';\n${IMPORT}const job: WrittenJob = ${JOB(name)};
const read = (summary: Summary): number => summary.balance.accepted;
// @ts-expect-error: a batch has messages
const wrong = () => createService({ account: 'acme', credentials: {} }).sms.sendBatch({ message: [] });
void [read, wrong];
${USE.replace('process.env.ORIGIN', "process.env.ORIGIN ?? ''").replace('let refused;', 'let refused: string | undefined;')}`;
      writeFileSync(join(folder, 'typed.mts'), typed);
      for (const [at, example] of EXAMPLES.entries()) writeFileSync(join(folder, `page-${at}.mts`), example);
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
      const tsc = join(CHECKOUT, 'node_modules', name, 'bin/tsc');
      const compiled = await run(process.execPath, [tsc, '-p', folder]).catch((error: { stdout: string }) => error);
      expect(compiled.stdout).toBe('');
      expect(await say('typed.mjs')).toEqual(SAID);
    },
  );

  test('does what the page on it shows, word for word save for the address', async () => {
    const areas = ['sms', 'contacts', 'verification', 'gateway', 'campaign', 'chat'];
    const bases = JSON.stringify(Object.fromEntries(areas.map((area) => [area, sandbox.origin])));
    const said: string[] = [];
    for (const [at, example] of EXAMPLES.entries()) {
      const program = example.replace("account: 'acme',", `account: 'acme', bases: ${bases},`);
      writeFileSync(join(folder, `example-${at}.mjs`), program.replace('jobs/spring-sale.yaml', 'job.yaml'));
    }
    writeFileSync(join(folder, 'job.yaml'), JSON.stringify(PAGE_JOB)); // JSON is YAML too
    const { apiKey, gatewayKey, chatKey, campaign } = sandbox.credentials;
    const env = {
      PATH: process.env.PATH ?? '',
      VOLLEY_API_KEY: apiKey,
      VOLLEY_GATEWAY_KEY: gatewayKey,
      VOLLEY_CHAT_KEY: chatKey,
      VOLLEY_DATA_TOKEN: campaign.dataToken,
      VOLLEY_ACTION_TOKEN: campaign.actionToken,
    };
    await sandbox.clearLedger();
    for (const at of EXAMPLES.keys()) {
      const directory = /\S*out\/page\/\S+/.exec(said.at(-1) ?? '')?.[0] ?? '';
      const { stdout, stderr } = await run(process.execPath, [`example-${at}.mjs`, directory], { cwd: folder, env });
      expect(stderr).toBe('');
      said.push(stdout);
    }
    expect(said).toEqual(['', expect.stringContaining('sms: 2 rows'), expect.stringContaining('accepted: 2')]);
    const areasReached = (await new Client(sandbox).ledger()).map(({ area }) => area);
    expect(new Set(areasReached)).toEqual(new Set(areas));
  });

  test('prints its reference from any directory, as the pages are written', async () => {
    const command = join(folder, 'node_modules/.bin/volley');
    const elsewhere = aFolder();
    const { stdout: topics } = await run(command, ['help'], { cwd: elsewhere });
    const { stdout: page } = await run(command, ['help', 'job-file'], { cwd: elsewhere });
    expect(topics).toMatch(/^ {2}job-file +Every key of a job file/m);
    expect(page).toBe(readFileSync(join(CHECKOUT, 'jobs/reference/job-file.md'), 'utf8'));
    const installed = join(folder, 'node_modules/volley');
    expect(
      ['README.md', 'CHANGELOG.md', 'jobs/README.md'].filter((name) => !existsSync(join(installed, name))),
    ).toEqual([]);
  });

  test('runs a job of the command, and opens the console', async () => {
    const command = join(folder, 'node_modules/volley/dist/cli.js');
    writeFileSync(join(folder, 'command.yaml'), JSON.stringify({ ...PAGE_JOB, name: 'command', sameText: 'send' }));
    const { stdout } = await run(process.execPath, [command, 'run', 'command.yaml'], { cwd: folder });
    expect(JSON.parse(stdout)).toMatchObject({ state: 'finished', exitCode: 0 });
    const console = new Running(['console', '--port', '0'], {
      command,
      cwd: folder,
      env: { PATH: process.env.PATH ?? '' },
    });
    const { link } = JSON.parse(await console.firstLine());
    expect((await fetch(link, { redirect: 'manual' })).headers.get('location')).toBe('/');
    console.signal('SIGTERM');
    expect((await console.ended).code).toBe(0);
  });

  test('gives its entry and its package.json, and nothing that lies behind them', async () => {
    const look = `
      const fail = (name) => import(name).then(() => 'found', (error) => error.code);
      console.log(JSON.stringify({
        entry: Object.keys(await import('volley')).sort(),
        inner: await fail('volley/dist/run/apply.js'),
        version: (await import('volley/package.json', { with: { type: 'json' } })).default.version,
      }));`;
    writeFileSync(join(folder, 'look.mjs'), look);
    const { stdout } = await run(process.execPath, ['--no-warnings', 'look.mjs'], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual({
      entry: ['InternalError', 'ServiceError', 'UserError', 'apply', 'createService', 'plan'],
      inner: 'ERR_PACKAGE_PATH_NOT_EXPORTED',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    });
    expect(existsSync(join(folder, 'node_modules/volley/src'))).toBe(false);
  });
});
