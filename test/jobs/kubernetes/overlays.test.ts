import { describe, expect, test } from 'vitest';
import { needKubectl } from '../../e2e/of-the-machine.js';
import { buildOverlay } from './build-overlay.js';
import { checkManifests } from './check-manifests.js';
import { listSpecs, listWorkloads, type Manifest } from './manifest.js';
import { KIT, listOverlays, readOverlay } from './read-overlay.js';

const kubectl = needKubectl();
const overlays = listOverlays();

test('there is one for each way to run Volley', () => {
  expect(overlays).toEqual([
    'cluster/leader',
    'cluster/nightly-workers',
    'cluster/scaled-workers',
    'cluster/steady-workers',
    'console',
    'listener',
    'migration',
    'nightly',
    'nightly-ha',
  ]);
});

describe.each(overlays)('%s', (name) => {
  test('has nothing that a cluster would refuse, drop or never do', () => {
    expect(checkManifests(readOverlay(name))).toEqual([]);
  });

  test.skipIf(kubectl.isMissing)(kubectl.title('is to kubectl what it is to these tests'), () => {
    const built = buildOverlay(KIT + name);
    const byName = (a: Manifest, b: Manifest) => nameOf(a).localeCompare(nameOf(b));

    expect(built.toSorted(byName)).toEqual(readOverlay(name).toSorted(byName));
  });
});

test('a console answers to the name of its ingress', () => {
  const manifests = readOverlay('console');
  const [ingress] = listSpecs(manifests, 'Ingress');
  const hosts = ingress?.spec.rules?.map(({ host }) => `--origin=https://${host}`);
  expect(listWorkloads(manifests)[0]?.container.args).toEqual(expect.arrayContaining(hosts ?? ['']));
  expect(ingress?.spec.tls?.[0]?.hosts).toEqual(ingress?.spec.rules?.map(({ host }) => host));
});

function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`;
}
