import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { checkManifests } from './check-manifests.js';
import { makeChart, RUNS } from './make-chart.js';
import type { Manifest } from './manifest.js';
import { KIT, readOverlay } from './read-overlay.js';
import { renderTemplate } from './render-chart.js';

const CHART = join(KIT, 'chart');
const DEFAULTS = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
const names = readdirSync(join(CHART, 'templates')).toSorted();

test('its templates are made of the overlays: `npx vitest run test/jobs/kubernetes/chart.test.ts -u` writes them anew', async () => {
  const made = makeChart();
  for (const [name, text] of Object.entries(made))
    await expect(text).toMatchFileSnapshot(join(CHART, 'templates', name));
  expect(Object.keys(made).toSorted()).toEqual(readdirSync(join(CHART, 'templates')).toSorted());
});

test('its schema knows the runs and values that there are: Helm refuses any other, which would install nothing, or not what was meant', () => {
  const properties = Object.entries(DEFAULTS).map(([name, value]) => {
    return [name, name === 'run' ? { enum: [...Object.keys(RUNS), ''] } : { type: typeof value }];
  });
  // Helm hands `global` to the chart where it is a part of another one.
  const known = { ...Object.fromEntries(properties), global: { type: 'object' } };

  const expected = { type: 'object', properties: known, additionalProperties: false };
  expect(JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'))).toEqual(expected);
});

test.each(Object.entries(RUNS))(
  'run: %s has the objects of the overlay %s, and nothing that a cluster would refuse',
  (run, overlay) => {
    const expected = readOverlay(overlay);
    const [job = ''] = expected.flatMap(({ data }) => Object.values(data ?? {}));
    const built = render({ run, job });

    expect(built).toEqual(expected.toSorted(byName));
    expect(checkManifests(built)).toEqual([]);
  },
);

test('the listener comes beside a run, or alone', () => {
  const listener = readOverlay('listener');
  const [job = ''] = readOverlay('nightly').flatMap(({ data }) => Object.values(data ?? {}));

  expect(render({ run: '', listener: true })).toEqual(listener.toSorted(byName));
  expect(render({ run: 'nightly', job, listener: true })).toEqual(
    [...readOverlay('nightly'), ...listener].toSorted(byName),
  );
});

test('the console has the name that its people open', () => {
  const text = (manifests: readonly Manifest[]) => JSON.stringify(manifests);

  const built = render({ run: '', console: 'campaigns.acme.example' });

  expect(text(built).replaceAll('campaigns.acme.example', 'volley.example.com')).toBe(
    text(readOverlay('console').toSorted(byName)),
  );
});

test('the reader\u2019s own values are where they belong', () => {
  const own = {
    image: 'registry.example.com/volley:1.1.0',
    schedule: '0 10 * * *',
    timeZone: 'Europe/Berlin',
    storageClassName: 'efs-sc',
    prometheus: 'observability',
  };
  const text = JSON.stringify(render({ run: 'nightly-workers', job: 'name: own\ncluster: {}\n', ...own }));

  for (const value of [...Object.values(own), 'name: own\\ncluster: {}\\n']) expect(text).toContain(value);
  for (const name of ['image', 'schedule', 'timeZone', 'prometheus'] as const)
    if (name !== 'schedule') expect(text).not.toContain(`"${DEFAULTS[name]}"`);
});

test('claims and job files stay when a release is taken away or changed, and a run without a job is refused', () => {
  const kept = names.filter((name) =>
    readFileSync(join(CHART, 'templates', name), 'utf8').includes('helm.sh/resource-policy: keep'),
  );

  expect(kept).toEqual(names.filter((name) => /^(configmap|persistentvolumeclaim)-/.test(name)));
  expect(() => render({ run: 'nightly' })).toThrow('job: the text of your job file');
});

/** Without the digests behind the names of config maps, and what is for Helm alone. */
function render(values: Record<string, string | boolean>): Manifest[] {
  const all = names.map((name) =>
    renderTemplate(readFileSync(join(CHART, 'templates', name), 'utf8'), { ...DEFAULTS, ...values }),
  );
  const plain = all.join('\n---\n').replaceAll(/\b(volley-[a-z]+)-[0-9a-f]{10}$/gm, '$1');
  const manifests = parseAllDocuments(plain).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
  for (const { metadata } of manifests as (Manifest & { metadata: { annotations?: object } })[])
    delete metadata.annotations;
  return manifests.toSorted(byName);
}

function byName(a: Manifest, b: Manifest): number {
  return `${a.kind} ${a.metadata.name}`.localeCompare(`${b.kind} ${b.metadata.name}`);
}
