import { describe, expect, test } from 'vitest';
import { needKubectl } from '../../e2e/of-the-machine.js';
import { buildOverlay } from './build-overlay.js';
import { checkManifests } from './check-manifests.js';
import type { Manifest } from './manifest.js';
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

function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`;
}
