// Upgrade and rollback between builds of several commits, with real processes and one sandbox for all of them:
//
//   node test/upgrade/main.mjs 1660b53 bec3b6e 7738358
//
// For each commit, a build of it and the one in dist/ take over from each other, in both directions: a run that is finished, and one that
// was stopped in its middle. Prints one line for each, as it stands in jobs/kubernetes/README.md, and ends with 1 if a number got two messages.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');
const NOW = join(root, 'dist/cli.js');
const ROWS = 120;
const BATCH = 4;
const run = promisify(execFile);
const directory = mkdtempSync(join(tmpdir(), 'volley-upgrade-'));

const sandbox = spawn(process.execPath, [NOW, 'sandbox', '--port', '0'], { stdio: ['ignore', 'pipe', 'ignore'] });
const serving = JSON.parse(
  await new Promise((resolve) => sandbox.stdout.once('data', (text) => resolve(String(text)))),
);

let isWrong = false;
let count = 0;
try {
  for (const commit of process.argv.slice(2)) {
    const old = await build(commit);
    for (const [before, after, way] of [
      [old, NOW, 'upgrade'],
      [NOW, old, 'rollback'],
    ]) {
      for (const isStopped of [false, true])
        process.stdout.write(`${commit} ${way}: ${JSON.stringify(await takeOver(before, after, isStopped))}\n`);
    }
  }
} finally {
  sandbox.kill();
  rmSync(directory, { recursive: true, force: true });
}
process.exitCode = isWrong ? 1 : 0;

/** Built in a directory of its own, with the packages of this checkout. */
async function build(commit) {
  const target = join(directory, commit);
  const bash = (script) => run('bash', ['-c', script], { cwd: root, maxBuffer: 1e8 });
  await bash(`mkdir ${target} && git archive ${commit} | tar x -C ${target}`);
  symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'));
  await bash(`cd ${target} && npm run build`);
  return join(target, 'dist/cli.js');
}

async function takeOver(before, after, isStopped) {
  count += 1;
  const place = join(directory, `job-${count}`);
  await run('mkdir', [place]);
  // Numbers of its own: the ledger is one for all.
  const numbers = Array.from({ length: ROWS }, (_, at) => `+6591${String(count * 1000 + at).padStart(6, '0')}`);
  writeFileSync(join(place, 'people.csv'), `mobile\n${numbers.join('\n')}\n`);
  writeFileSync(join(place, 'sale.yaml'), JSON.stringify(aJob()));
  const first = await start(before, place, isStopped ? numbers : undefined);
  const sentFirst = (await listSent(numbers)).length;
  const formats = readFormats(place);
  if (formats === undefined) return { refused: first.said };
  const second = await start(after, place);
  const sent = await listSent(numbers);
  if (new Set(sent).size < sent.length) isWrong = true;
  const { code, said } = second;
  return {
    formats,
    was: first.code,
    sentFirst,
    ended: code,
    sent: sent.length,
    twice: sent.length - new Set(sent).size,
    said,
  };
}

function aJob() {
  return {
    name: 'sale',
    service: {
      account: serving.credentials.account,
      bases: { sms: serving.origin },
      credentials: { apiKey: { env: 'VOLLEY_API_KEY' } },
    },
    steps: [
      {
        kind: 'sms',
        input: { files: ['people.csv'], country: 'SG' },
        destination: 'mobile',
        template: { source: 'ACME', text: 'Hello' },
        batchSize: BATCH,
        limits: { requestsPerSecond: 10, concurrency: 1 },
      },
    ],
    output: 'out',
  };
}

/** Until its end, or until some of the numbers have their message: then it gets SIGTERM. */
async function start(cli, cwd, stopAfter) {
  const env = { ...process.env, VOLLEY_API_KEY: serving.credentials.apiKey };
  const child = spawn(process.execPath, [cli, 'run', 'sale.yaml'], { cwd, env });
  let said = '';
  child.stdout.resume();
  child.stderr.on('data', (text) => {
    said += text;
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  while (stopAfter !== undefined && child.exitCode === null && (await listSent(stopAfter)).length < 5 * BATCH);
  if (stopAfter !== undefined) child.kill('SIGTERM');
  const code = await ended;
  return { code, said: code === 0 ? '' : said.trimEnd().split('\n').at(-1).slice(0, 400) };
}

async function listSent(numbers) {
  const ledger = await (await fetch(`${serving.origin}/_sandbox/ledger`)).text();
  const own = new Set(numbers);
  return (ledger.match(/\+659\d{7}/g) ?? []).filter((number) => own.has(number));
}

function readFormats(place) {
  const jobDirectory = join(place, 'out/sale');
  const read = (name) => {
    try {
      return readFileSync(join(jobDirectory, name), 'utf8');
    } catch {
      return '';
    }
  };
  if (!existsSync(jobDirectory)) return undefined;
  const plan = readdirSync(jobDirectory).find((name) => read(join(name, 'plan.json')) !== '');
  return {
    plan: Number(/"format": ?(\d+)/.exec(read(`${plan}/plan.json`))?.[1]),
    journal: Number(/"version": ?(\d+)/.exec(read(`${plan}/journal.ndjson`))?.[1]),
    registry: Number(/"version": ?(\d+)/.exec(read('registry.ndjson'))?.[1] ?? 0),
  };
}
