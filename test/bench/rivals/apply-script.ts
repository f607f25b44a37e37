/** Rival of apply: what is written in an afternoon, p-limit and fetch, each answer appended. `node apply-script.js <Sending>` */
import { appendFile } from 'node:fs/promises';
import pLimit from 'p-limit';
import { readBodies, readSending } from './read-bodies.js';

const { requests, origin, path, headers, concurrency, results } = readSending();
const bodies = readBodies(requests);
const limit = pLimit(concurrency);

const startMs = performance.now();
await limit.map(bodies, async (body) => {
  const answer = await fetch(`${origin}${path}`, { method: 'POST', headers, body });
  const result = await answer.json();
  if (!answer.ok) throw new Error(`The service answers ${answer.status}`);
  await appendFile(results, `${JSON.stringify({ status: answer.status, result })}\n`);
});
const sendingSeconds = (performance.now() - startMs) / 1000;

process.stdout.write(`${JSON.stringify({ sendingSeconds })}\n`);
