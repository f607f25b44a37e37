import { writeFileSync } from 'node:fs';

/** Loaded before a measured program: at its end it leaves what the program took, for whoever started it. */
const path = process.env.VOLLEY_BENCH_USAGE;
if (path !== undefined) {
  process.on('exit', () => {
    writeFileSync(path, JSON.stringify({ peakMb: process.resourceUsage().maxRSS / 1024 }));
  });
}
