import { readFileSync } from 'node:fs';
import { decodeRequestLine } from '../../../src/plan/format/plan-file.js';

/** What the rivals of apply get, as JSON: everything about a request but its body. */
export interface Sending {
  /** The plan's lines of requests. */
  readonly requests: string;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly concurrency: number;
  /** Where results are appended. */
  readonly results: string;
}

export function readSending(): Sending {
  return JSON.parse(process.argv[2] ?? '');
}

/** The bodies that volley posts, byte for byte. */
export function readBodies(path: string): Buffer[] {
  const bytes = readFileSync(path);
  const bodies: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start);
    bodies.push(decodeRequestLine(bytes.subarray(start, end), path).body);
    start = end + 1;
  }
  return bodies;
}
