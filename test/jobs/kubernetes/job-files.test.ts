import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { isRowStep } from '../../../src/job/job.js';
import { parseJob } from '../../../src/job/load.js';
import { readAllHelp } from '../../pages/command-help.js';
import { ROOT } from '../dockerfile.js';
import { SECRETS } from './check-manifests.js';
import { listWorkloads } from './manifest.js';
import { KIT, listOverlays, readOverlay } from './read-overlay.js';

const FILES = ['nightly/nightly.yaml', 'migration/contacts-migration.yaml', 'cluster/leader/nightly-shared.yaml'];
const read = (name: string) => readFileSync(KIT + name, 'utf8');

describe.each(FILES)('%s', (name) => {
  test('is a job that Volley takes, and stays in the volume', () => {
    const job = parseJob(read(name), `/etc/volley/${name}`);
    const paths = job.steps
      .filter(isRowStep)
      .flatMap((step) => [
        ...step.input.files,
        ...(step.kind === 'sms' ? (step.suppress ?? []).flatMap(({ files }) => files) : []),
      ]);

    expect(paths).not.toEqual([]);
    for (const path of [...paths, job.output.directory]) expect(path).toMatch(/^\/data\//);
  });

  test('names its schema in the first line, for editors', () => {
    const up = '../'.repeat(name.split('/').length);

    expect(read(name).split('\n')[0]).toBe(`# yaml-language-server: $schema=${up}job.schema.json`);
  });
});

test('the nightly job is jobs/nightly.yaml with the paths of the volume, comments included', () => {
  const nightly = readFileSync(`${ROOT}jobs/nightly.yaml`, 'utf8').replaceAll('../', '/data/');
  const withoutHead = (text: string) => text.slice(text.indexOf('name:'));

  expect(withoutHead(read('nightly/nightly.yaml'))).toBe(withoutHead(nightly));
});

test('the migration is jobs/contacts-migration.yaml with the paths of the volume, for the real service', () => {
  const text = readFileSync(`${ROOT}jobs/contacts-migration.yaml`, 'utf8');
  const migration = parse(text.replaceAll('../samples/', '/data/').replaceAll('../', '/data/'));
  const { service } = parse(read('nightly/nightly.yaml'));

  expect(parse(read('migration/contacts-migration.yaml'))).toEqual({ ...migration, service });
});

test('the leader runs the nightly job, shared by a database', () => {
  const { cluster, ...job } = parse(read('cluster/leader/nightly-shared.yaml'));

  expect(job).toEqual(parse(read('nightly/nightly.yaml')));
  expect(cluster).toMatchObject({ database: { env: 'VOLLEY_DATABASE_URL' } });
});

test('commands of pods, and those that README.md runs in them, have the verbs and flags of the built command', async () => {
  const help = await readAllHelp();
  const ofPods = listOverlays()
    .flatMap((name) => listWorkloads(readOverlay(name)))
    .flatMap(({ container }) => (container.args === undefined ? [] : [container.args]));
  const inPods = [...read('README.md').matchAll(/kubectl exec .*?\bvolley ([a-z][^'`\n]*)/g)];
  const commands = [...ofPods, ...inPods.map(([, command = '']) => command.split(' '))];
  expect(inPods.length).toBeGreaterThan(7);
  const unknown = commands.flatMap((args) => {
    const own = help.find(({ name }) => `${args.join(' ')} `.startsWith(`${name} `));
    if (own === undefined) return [args.join(' ')];
    const flags = args.filter((arg) => arg.startsWith('--')).map((arg) => arg.replace(/=.*/, ''));
    return flags.filter((flag) => !own.flags.has(flag)).map((flag) => `${own.name} ${flag}`);
  });

  expect(commands.length).toBeGreaterThan(10);
  expect(unknown).toEqual([]);
});

test('README.md has a command that makes each secret', () => {
  for (const [name, key] of Object.entries(SECRETS))
    expect(read('README.md')).toContain(`kubectl create secret generic ${name} --from-file=${key}=`);
});
