import { z } from 'zod';
import { writtenSecret } from './credentials.js';

/** A worker stops ten seconds before its lease ends. */
const LEAST_LEASE_SECONDS = 15;

export const writtenCluster = z
  .strictObject({
    database: writtenSecret('address of the database'),
    share: z
      .enum(['requests', 'lane'])
      .default('requests')
      .describe(
        'requests: workers of the database send the requests of this job. lane: this process sends alone, and shares the limits of the account with the others.',
      ),
    leaseSeconds: z
      .int()
      .min(LEAST_LEASE_SECONDS)
      .max(3600)
      .default(30)
      .describe('Time after the death of the leader from which workers begin no more requests of its run.'),
    sendHere: z
      .boolean()
      .default(true)
      .describe('Whether the process that leads the run sends too, beside its workers.'),
  })
  .describe('A PostgreSQL database over which several processes send one job, or share the limits of an account.');
