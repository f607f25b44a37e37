import type { Path } from './finding.js';
import { readYaml } from './read-yaml.js';
import { readTree } from './tree.js';

/**
 * Where in a job file a part of the job is written: `job.yaml:7:5`; of what is not there, its nearest parent. Undefined
 * for a text that is not YAML.
 */
export function findPlace({ text, file }: { text: string; file: string }, path: Path): string | undefined {
  const clean = text.replace(/^\uFEFF/, '');
  const yaml = readYaml(clean);
  if (yaml.findings !== undefined) return undefined;
  return `${file}:${findPosition(clean, readTree(yaml.root).offsetOf(path))}`;
}

/** `line:column`, both from 1, as editors count. */
export function findPosition(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const lastBreak = before.lastIndexOf('\n');
  return `${before.split('\n').length}:${offset - lastBreak}`;
}
