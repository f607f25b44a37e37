import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from '../dockerfile.js';
import type { Manifest } from './manifest.js';

/** Absolute path of the kit, with a slash at its end. */
export const KIT = `${ROOT}jobs/kubernetes/`;

/** Every directory of the kit that can be applied: those with a kustomization.yaml and a workload. `base` has the desk, and no run. */
export function listOverlays(): string[] {
  const all = readdirSync(KIT, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('kustomization.yaml'),
  );
  const names = all.map((path) => path.replace(/\/?kustomization\.yaml$/, '')).toSorted();
  return names.filter(
    (name) => name !== 'base' && readOverlay(name).some(({ kind }) => ['CronJob', 'Job', 'Deployment'].includes(kind)),
  );
}

interface Kustomization {
  readonly resources?: readonly string[];
  readonly configMapGenerator?: readonly {
    name: string;
    behavior?: string;
    files: readonly string[];
    options: { labels: Record<string, string> };
  }[];
  /** Without a name: all of the kind. */
  readonly patches?: readonly { target: { kind: string; name?: string }; patch: string }[];
}

const KNOWN = ['apiVersion', 'kind', 'resources', 'configMapGenerator', 'patches'];

/**
 * What `kubectl kustomize` makes of a directory of the kit, as far as the kit uses it, so that no test needs kubectl: resources, config
 * maps of files (without the digest behind their names) and JSON patches. What else a kustomization.yaml says is refused.
 */
export function readOverlay(name: string): Manifest[] {
  return readDirectory(join(KIT, name));
}

export function readDirectory(directory: string): Manifest[] {
  const kustomization: Kustomization = parse(readFileSync(join(directory, 'kustomization.yaml'), 'utf8'));
  const unknown = Object.keys(kustomization).filter((key) => !KNOWN.includes(key));
  if (unknown.length > 0) throw new Error(`${directory}: this merge knows no ${unknown}`);
  let manifests = (kustomization.resources ?? []).map((path) => join(directory, path)).flatMap(readResource);
  for (const { name, behavior, files, options } of kustomization.configMapGenerator ?? []) {
    const isSame = ({ kind, metadata }: Manifest) => kind === 'ConfigMap' && metadata.name === name;
    if (manifests.some(isSame) !== (behavior === 'replace')) throw new Error(`${directory}: behavior of ${name}`);
    const data = Object.fromEntries(files.map((file) => [basename(file), readFileSync(join(directory, file), 'utf8')]));
    const metadata = { name, labels: options.labels };
    manifests = [...manifests.filter((each) => !isSame(each)), { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }];
  }
  for (const { target, patch } of kustomization.patches ?? []) {
    const patched = manifests.filter(
      ({ kind, metadata }) => kind === target.kind && metadata.name === (target.name ?? metadata.name),
    );
    if (patched.length === 0) throw new Error(`${directory}: no ${target.kind} ${target.name}`);
    for (const manifest of patched) for (const operation of parse(patch)) applyOperation(manifest, operation);
  }
  return manifests;
}

function readResource(path: string): Manifest[] {
  if (statSync(path).isDirectory()) return readDirectory(path);
  return parseAllDocuments(readFileSync(path, 'utf8')).map((document) => document.toJS());
}

/** RFC 6902, without what the kit does not use. */
function applyOperation(root: object, { op, path, value }: { op: string; path: string; value?: unknown }): void {
  const keys = path.split('/').slice(1);
  const last = keys.pop() ?? '';
  let at = root as Record<string, unknown>;
  for (const key of keys) at = at[key] as Record<string, unknown>;
  if (op === 'add' && Array.isArray(at) && last === '-') at.push(value);
  else if (op === 'add' && !(last in at)) at[last] = value;
  else if (op === 'replace' && last in at) at[last] = value;
  else if (op === 'remove' && last in at) delete at[last];
  else throw new Error(`Cannot ${op} ${path}`);
}
