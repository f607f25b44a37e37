import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { needKubectl } from '../../e2e/of-the-machine.js';
import { type Page, readPage } from '../../pages/page.js';
import { aFolder } from '../../plan/a-plan.js';
import { buildOverlay } from './build-overlay.js';
import { checkManifests } from './check-manifests.js';
import { isByHand, listWorkloads, type Manifest } from './manifest.js';
import { KIT, listOverlays } from './read-overlay.js';

const page = readPage('jobs/kubernetes/README.md');
const kubectl = needKubectl();

interface Kustomization {
  readonly namespace: string;
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly { name: string; files: readonly string[] }[];
  readonly patches: readonly object[];
}

/** The blocks that a reader of the page copies: a directory for what is theirs, and what they change in it. */
const [yours, ofTeam, twoNodes, sharing, ...morePatches] = [
  (block: object) => 'namespace' in block,
  (block: object) => 'resources' in block && !('namespace' in block),
  (block: object) => Object.keys(block).join() === 'patches',
].flatMap((isMeant) => listYaml(page).filter(isMeant)) as [
  Kustomization,
  Kustomization,
  Kustomization,
  Kustomization,
  ...Kustomization[],
];
const key = listYaml(page).find((block) => 'cluster' in block);

const nightly = readFileSync(`${KIT}nightly/nightly.yaml`, 'utf8').replaceAll('ACME', 'YOURS');
const migration = readFileSync(`${KIT}migration/contacts-migration.yaml`, 'utf8').replace('acme', 'YOURS');
const shared = `${nightly}\n${stringify(key)}`;
const listener = '../jobs/kubernetes/listener';
const ofWorkers = (kind: string) => ({
  kustomization: { ...yours, ...sharing, resources: [`../jobs/kubernetes/cluster/${kind}`] },
  files: { 'nightly-shared.yaml': shared },
});

/** By what the reader wants: what they write into `acme`. */
const READERS: Readonly<Record<string, { kustomization: Kustomization; files: Record<string, string> }>> = {
  nightly: { kustomization: yours, files: { 'nightly.yaml': nightly } },
  'nightly, and the listener': {
    kustomization: { ...yours, resources: [...yours.resources, listener] },
    files: { 'nightly.yaml': nightly },
  },
  'nightly, where Prometheus is elsewhere': {
    kustomization: { ...yours, patches: [...yours.patches, ...morePatches.flatMap(({ patches }) => patches)] },
    files: { 'nightly.yaml': nightly },
  },
  'nightly, on two nodes': {
    kustomization: { ...yours, ...twoNodes, patches: [...yours.patches, ...twoNodes.patches] },
    files: { 'nightly.yaml': nightly },
  },
  'a console for a team': { kustomization: ofTeam, files: {} },
  migration: {
    kustomization: {
      ...yours,
      resources: ['../jobs/kubernetes/migration'],
      configMapGenerator: yours.configMapGenerator.map((each) => ({
        ...each,
        name: 'volley-migration',
        files: ['contacts-migration.yaml'],
      })),
      patches: [],
    },
    files: { 'contacts-migration.yaml': migration },
  },
  'nightly workers': ofWorkers('nightly-workers'),
  'steady workers': ofWorkers('steady-workers'),
  'scaled workers': ofWorkers('scaled-workers'),
};

describe.skipIf(kubectl.isMissing)(kubectl.title('who follows the page to the end'), () => {
  test.each(Object.entries(READERS))('has one namespace, one image, one time and the own job: %s', (_, reader) => {
    const built = build(reader);

    expect(checkManifests(asInKit(built))).toEqual([]);
    for (const { metadata } of built) expect(metadata).toMatchObject({ namespace: yours.namespace });
    for (const workload of listWorkloads(built)) {
      expect(workload.container.image).toBe('registry.example.com/volley:1.0.0');
      if (workload.cron === undefined || isByHand(workload)) continue;
      expect(workload.cron).toMatchObject({ schedule: '0 10 * * *', timeZone: 'Europe/Berlin' });
    }
    if (reader.files['nightly.yaml'] !== undefined || reader.files['nightly-shared.yaml'] !== undefined)
      expect(built.filter(({ kind }) => kind === 'ConfigMap').map(({ data }) => data)).toEqual([reader.files]);
  });

  test('finds each patch of the page at work', () => {
    expect(JSON.stringify(build(READERS['nightly, where Prometheus is elsewhere']!))).toContain('observability');
    expect(JSON.stringify(build(READERS['a console for a team']!))).not.toContain('volley.example.com');
  });
});

describe.skipIf(kubectl.isMissing)(kubectl.title('who adds workers, and forgets'), () => {
  const { kustomization } = ofWorkers('nightly-workers');

  test('the name of the job file and its key: the run does not start', () => {
    const { configMapGenerator } = yours;
    const built = build({
      kustomization: { ...kustomization, configMapGenerator },
      files: { 'nightly.yaml': nightly },
    });

    expect(checkManifests(asInKit(built))).toContain('volley-nightly: /etc/volley/nightly-shared.yaml is not there');
  });

  test('its key alone, or a patch for the workers: these tests would say so', () => {
    const lacking = build({ kustomization, files: { 'nightly-shared.yaml': nightly } });
    expect(checkManifests(asInKit(lacking))).toEqual(['the job of the run has no `cluster`: its workers get nothing']);

    const patches = parse(stringify(yours.patches).replace('|volley-workers', ''));
    const late = build({ kustomization: { ...kustomization, patches }, files: { 'nightly-shared.yaml': shared } });
    expect(checkManifests(asInKit(late))).toEqual(['the workers come at other times than the run']);
  });
});

describe('the commands of the page', () => {
  const commands = listKubectl(page);

  test('make the namespace, and choose it, before anything else', () => {
    expect(commands.slice(0, 2)).toEqual([
      `kubectl create namespace ${yours.namespace}`,
      `kubectl config set-context --current --namespace=${yours.namespace}`,
    ]);
    expect(commands.filter((command) => / -n |--namespace/.test(command))).toEqual(commands.slice(1, 2));
    expect(commands.length).toBeGreaterThan(30);
  });

  test('apply what is the reader\u2019s, never the kit itself: it has neither their image nor their namespace', () => {
    const directories = commands.flatMap((command) => / (?:apply -k|kustomize) (\S+)/.exec(command)?.[1] ?? []);

    expect(new Set(directories)).toEqual(new Set(['acme']));
  });

  test.skipIf(kubectl.isMissing)(
    kubectl.title('name what the reader has, and jobs that an earlier command made'),
    () => {
      const there = new Set(
        Object.values(READERS)
          .flatMap(build)
          .map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`),
      );
      const made = new Set(['job/NAME']);
      const unknown = commands.flatMap((command) => {
        const [, first, second] = /create job (?:(\S+) --from|--from=\S+ (\S+))/.exec(command) ?? [];
        const named = [...command.matchAll(/\b(cronjob|deploy|job)(?:\/| )([a-zA-Z][\w-]*)/g)]
          .map(([, kind, name]) => `${kind?.replace('deploy', 'deployment')}/${name}`)
          .filter((name) => name !== `job/${first ?? second}`);
        if (first ?? second) made.add(`job/${first ?? second}`);
        return named.filter((name) => !there.has(name) && !made.has(name)).map((name) => `${name}: ${command}`);
      });

      expect(made.size).toBeGreaterThan(4);
      expect(unknown).toEqual([]);
    },
  );
});

test('every directory of the kit is one that a reader of the page has', () => {
  const had = Object.values(READERS).flatMap(({ kustomization }) => kustomization.resources);
  const ofKit = listOverlays().filter((name) => name !== 'cluster/leader');

  expect(new Set(had)).toEqual(new Set(ofKit.map((name) => `../jobs/kubernetes/${name}`)));
});

const built = new Map<object, Manifest[]>();

/** Once for each reader. */
function build(reader: (typeof READERS)[string]): Manifest[] {
  const manifests = built.get(reader) ?? buildAnew(reader);
  built.set(reader, manifests);
  return manifests;
}

function buildAnew({ kustomization, files }: (typeof READERS)[string]): Manifest[] {
  const directory = aFolder();
  cpSync(KIT, join(directory, 'jobs/kubernetes'), { recursive: true });
  mkdirSync(join(directory, 'acme'));
  const all = { 'kustomization.yaml': stringify(kustomization), ...files };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(directory, 'acme', name), text);
  return buildOverlay(join(directory, 'acme'));
}

/** With the image of the kit, and of no namespace. */
function asInKit(manifests: readonly Manifest[]): Manifest[] {
  const copies = structuredClone(manifests) as (Manifest & { metadata: { namespace?: string } })[];
  for (const { metadata } of copies) delete metadata.namespace;
  for (const { container } of listWorkloads(copies)) container.image = `${container.image}`.replace(/^.*\//, '');
  return copies;
}

function listYaml({ blocks }: Page): object[] {
  return blocks.filter(({ language }) => language === 'yaml').map(({ text }) => parse(text));
}

/** Of blocks and of sentences, in their order; a command that goes on over several lines is one. */
function listKubectl({ text }: Page): string[] {
  const found = [...text.replaceAll(/ \\\n */g, ' ').matchAll(/^ *(kubectl [^\n]+)$|`(kubectl [^`]+)`/gm)];
  return found.map(([, line, span]) => (line ?? span ?? '').replace(/ {2,}#.*$/, ''));
}
