import { execFileSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from './manifest.js';

/** What `kubectl kustomize` makes of a directory, without the digests behind the names of config maps: they change with the contents. */
export function buildOverlay(directory: string): Manifest[] {
  const text = execFileSync('kubectl', ['kustomize', directory], { encoding: 'utf8', stdio: 'pipe' });
  const plain = text.replace(/\b(volley-[a-z]+)-[0-9a-z]{10}$/gm, '$1');
  return parseAllDocuments(plain).map((document) => document.toJS() as Manifest);
}
