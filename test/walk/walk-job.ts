import type { Job } from '../../src/job/job.js';
import { parseJob } from '../../src/job/load.js';

/** One SMS step over whatever lies in the inbox. */
export function createJob(batchSize: number): Job {
  const written = {
    name: 'walk',
    service: {
      account: 'acme',
      bases: { sms: 'http://127.0.0.1:1' },
      credentials: { apiKey: { env: 'KEY' } },
      giveUpAfterSeconds: 60,
    },
    steps: [
      {
        kind: 'sms',
        input: { files: '/in/*.csv' },
        destination: 'mobile',
        template: { source: 'ACME', text: 'Hi {{ name }}' },
        batchSize,
        limits: { concurrency: 2 },
      },
    ],
    guards: { maxFailedPercent: 100 },
    output: '/out',
  };
  return parseJob(JSON.stringify(written), '/in/walk.json');
}
