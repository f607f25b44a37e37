import { readFileSync, writeFileSync } from 'node:fs';
import {
  decodeRegistryLine,
  encodeRegistryLine,
  findRegistryLine,
  type RegistryEntry,
} from '../../src/registry/registry-entry.js';

/** Changes the last line of a registry as somebody would who knows its checksums. */
export function forgeLastEntry(path: string, change: (entry: object) => object): void {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  const last = Buffer.from(lines.pop() ?? '');
  const entry = decodeRegistryLine(last) as RegistryEntry;
  const { after = 0 } = findRegistryLine(last) ?? {};
  const forged = encodeRegistryLine(change(entry) as RegistryEntry, after).toString();
  writeFileSync(path, `${lines.map((line) => `${line}\n`).join('')}${forged}`);
}
