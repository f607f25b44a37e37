/** Rival of apply, the ceiling: an undici Pool that posts and counts, no journal. `node apply-ceiling.js <Sending>` */
import { Pool } from 'undici';
import { readBodies, readSending } from './read-bodies.js';

const { requests, origin, path, headers, concurrency } = readSending();
const bodies = readBodies(requests);
const pool = new Pool(origin, { connections: concurrency, pipelining: 1 });

const startMs = performance.now();
const waiting = bodies.values();
const post = async () => {
  for (const body of waiting) {
    const answer = await pool.request({ method: 'POST', path, headers, body });
    await answer.body.arrayBuffer();
    if (answer.statusCode >= 300) throw new Error(`The service answers ${answer.statusCode}`);
  }
};
await Promise.all(Array.from({ length: concurrency }, post));
const sendingSeconds = (performance.now() - startMs) / 1000;

await pool.close();
process.stdout.write(`${JSON.stringify({ sendingSeconds })}\n`);
