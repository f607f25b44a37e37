import { stringify } from 'yaml';
import { isByHand, listWorkloads, type Manifest } from './manifest.js';
import { readOverlay } from './read-overlay.js';

/** By the value `run`: its overlay. */
export const RUNS: Readonly<Record<string, string>> = {
  nightly: 'nightly',
  'nightly-ha': 'nightly-ha',
  migration: 'migration',
  'nightly-workers': 'cluster/nightly-workers',
  'steady-workers': 'cluster/steady-workers',
  'scaled-workers': 'cluster/scaled-workers',
};

/** What comes beside a run, or alone, by the value of its name. */
const PARTS = ['listener', 'console'];

/** Stand for values in a manifest until it is text. */
const VALUES: readonly (readonly [mark: RegExp, template: string])[] = [
  [/"?@image@"?/g, '{{ .Values.image | quote }}'],
  [/"?@schedule@"?/g, '{{ .Values.schedule | quote }}'],
  [/"?@timeZone@"?/g, '{{ .Values.timeZone | quote }}'],
  [/"?@prometheus@"?/g, '{{ .Values.prometheus | quote }}'],
  [/"?@ingress@"?/g, '{{ .Values.ingress | quote }}'],
  [/@console@/g, '{{ .Values.console }}'],
  [/@digest@/g, '{{ .Values.job | sha256sum | trunc 10 }}'],
  [
    / "?@job@"?$/gm,
    ' |\n{{ .Values.job | required "job: the text of your job file, such as --set-file job=nightly.yaml" | indent 4 }}',
  ],
  [
    /^ *storageClassName: "?@class@"?\n/gm,
    '{{- with .Values.storageClassName }}\n  storageClassName: {{ . | quote }}\n{{- end }}\n',
  ],
];
/** What Helm would delete: the record of what was sent, and the job files of runs that are under way. */
const KEPT = { 'helm.sh/resource-policy': 'keep' };

/** Templates of the chart by their names: each object of the overlays, as each kind of run has it. */
export function makeChart(): Record<string, string> {
  const objects = new Map<string, Map<string, string[]>>();
  const add = (manifest: Manifest, condition: string) => {
    const name = `${manifest.kind.toLowerCase()}-${manifest.metadata.name}.yaml`;
    const text = writeTemplate(manifest);
    const variants = objects.get(name) ?? new Map<string, string[]>();
    objects.set(name, variants.set(text, [...(variants.get(text) ?? []), condition]));
  };
  for (const [run, overlay] of Object.entries(RUNS)) for (const each of readOverlay(overlay)) add(each, run);
  for (const part of PARTS) for (const each of readOverlay(part)) add(each, part);
  const templates = [...objects].map(([name, variants]) => {
    const parts = [...variants].map(([text, runs], index) => {
      const part = PARTS.find((each) => each === runs[0]);
      const isIt =
        part !== undefined ? `.Values.${part}` : `has .Values.run (list ${runs.map((run) => `"${run}"`).join(' ')})`;
      return `{{- ${index === 0 ? 'if' : 'else if'} ${isIt} }}\n${text}`;
    });
    return [name, `${parts.join('')}{{- end }}\n`];
  });
  return Object.fromEntries(templates);
}

function writeTemplate(manifest: Manifest): string {
  const copy = structuredClone(manifest) as Manifest & { metadata: { annotations?: object } };
  for (const workload of listWorkloads([copy])) {
    workload.container.image = '@image@';
    if (workload.cron !== undefined && !isByHand(workload))
      Object.assign(workload.cron, { schedule: '@schedule@', timeZone: '@timeZone@' });
    Object.assign(workload.container.env?.find(({ name }) => name === 'TZ') ?? {}, { value: '@timeZone@' });
    for (const { configMap } of workload.pod.volumes ?? []) if (configMap !== undefined) configMap.name += '-@digest@';
  }
  if (copy.kind === 'ConfigMap') {
    copy.metadata.name += '-@digest@';
    copy.data = Object.fromEntries(Object.keys(copy.data ?? {}).map((file) => [file, '@job@']));
  }
  if (copy.kind === 'PersistentVolumeClaim') Object.assign(copy.spec ?? {}, { storageClassName: '@class@' });
  if (['ConfigMap', 'PersistentVolumeClaim'].includes(copy.kind)) copy.metadata.annotations = KEPT;
  const text = stringify(copy, { lineWidth: 0, aliasDuplicateObjects: false })
    .replaceAll('kubernetes.io/metadata.name: monitoring', 'kubernetes.io/metadata.name: @prometheus@')
    .replaceAll('kubernetes.io/metadata.name: ingress-nginx', 'kubernetes.io/metadata.name: @ingress@')
    .replaceAll('volley.example.com', '@console@');
  return VALUES.reduce((written, [mark, template]) => written.replaceAll(mark, template), text);
}
