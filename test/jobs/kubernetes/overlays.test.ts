import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { needKubectl } from '../../e2e/of-the-machine.js';
import { readPage } from '../../pages/page.js';
import { checkManifests } from './check-manifests.js';
import type { Manifest } from './manifest.js';
import { KIT, listOverlays, readOverlay } from './read-overlay.js';

const kubectl = needKubectl();
const overlays = listOverlays();

test('there is one for each way to run Volley', () => {
  expect(overlays).toEqual([
    'cluster/init',
    'cluster/leader',
    'cluster/nightly-workers',
    'cluster/scaled-workers',
    'cluster/steady-workers',
    'desk',
    'listener',
    'migration',
    'nightly',
    'once',
    'retry',
    'settle',
  ]);
});

describe.each(overlays)('%s', (name) => {
  test('has nothing that a cluster would refuse, drop or never do', () => {
    expect(checkManifests(readOverlay(name))).toEqual([]);
  });

  test.skipIf(kubectl.isMissing)(kubectl.title('is to kubectl what it is to these tests'), () => {
    const built = build(KIT + name);
    const byName = (a: Manifest, b: Manifest) => nameOf(a).localeCompare(nameOf(b));

    expect(built.toSorted(byName)).toEqual(readOverlay(name).toSorted(byName));
  });
});

test.skipIf(kubectl.isMissing)(kubectl.title('the overlay that README.md shows is yours, and keeps the rest'), () => {
  const directory = mkdtempSync(join(tmpdir(), 'volley-overlay-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [shown] = readPage('jobs/kubernetes/README.md').blocks.filter(({ language }) => language === 'yaml');
  cpSync(KIT, join(directory, 'jobs/kubernetes'), { recursive: true });
  mkdirSync(join(directory, 'acme'));
  writeFileSync(join(directory, 'acme/kustomization.yaml'), shown?.text.replaceAll(/^ {3}/gm, '') ?? '');
  writeFileSync(join(directory, 'acme/nightly.yaml'), 'name: mine\n');

  const text = JSON.stringify(build(join(directory, 'acme')));
  expect(text).toContain('"image":"registry.example.com/volley:0.1.0"');
  expect(text).toContain('"schedule":"0 10 * * 1-5"');
  expect(text).toContain('"data":{"nightly.yaml":"name: mine\\n"}');
  expect(text.match(/"namespace":"messaging"/g)).toHaveLength(readOverlay('nightly').length);
});

function build(directory: string): Manifest[] {
  const text = execFileSync('kubectl', ['kustomize', directory], { encoding: 'utf8', stdio: 'pipe' });
  // The digest behind the names of config maps changes with their contents.
  const plain = text.replace(/\b(volley-[a-z]+)-[0-9a-z]{10}$/gm, '$1');
  return parseAllDocuments(plain).map((document) => document.toJS() as Manifest);
}

function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`;
}
