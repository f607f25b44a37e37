import { writeFileSync } from 'node:fs';

/** Loaded before a measured program: at its end it leaves what the program took, for the process that started it. */
const path = process.env.VOLLEY_BENCH_USAGE;
if (path !== undefined) {
  process.on('exit', () => {
    const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
    const processorSeconds = (userCPUTime + systemCPUTime) / 1e6;
    writeFileSync(path, JSON.stringify({ peakMb: maxRSS / 1024, processorSeconds }));
  });
}
