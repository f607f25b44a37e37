import { describe, expect, it } from 'vitest';
import { AREAS } from '../../../src/domain/areas.js';
import { accountOf, accountOfKind, type JobService, type RowStep } from '../../../src/job/job.js';
import { kindOf } from '../../../src/kinds/kinds.js';
import { aService } from '../a-plan.js';

const SERVICE = aService();
const CHANGES: readonly Partial<JobService>[] = [
  { account: 'acmee' },
  { accountId: 'f0b64e0c-6b7a-4d3c-9a2e-0f6d3c1b2a90' },
  { account: 'acmee', accountId: 'acme' },
  { subAccountId: 'acme_sg' },
  { tenant: 'acme02' },
  ...Object.keys(SERVICE.bases).map((area) => ({
    bases: { ...SERVICE.bases, [area]: 'https://other.example.com/prefix' },
  })),
];
const ROW_KINDS = ['contacts', 'sms', 'verification.start', 'conversations'] as const;
const BODY = Buffer.from('{"destination":"+6591000001","sessionId":"s","code":"1234"}');

/** Where the first request of a kind goes. */
function addressOf(kind: RowStep['kind'], service: JobService): string {
  const { base, path, headers } = kindOf({ kind }).call(service, BODY, []);
  return `${base}${path} ${headers['x-8x8-tenant']}`;
}

describe('the account of a kind', () => {
  it.each(ROW_KINDS)('of %s is another one where its requests go elsewhere, and only there', (kind) => {
    for (const change of CHANGES) {
      const changed = { ...SERVICE, ...change };
      const isOther = accountOfKind({ service: changed }, kind) !== accountOfKind({ service: SERVICE }, kind);
      expect(isOther, JSON.stringify(change)).toBe(addressOf(kind, changed) !== addressOf(kind, SERVICE));
    }
  });

  it.each(AREAS)('of the sandbox is none of the service: %s', (area) => {
    expect(accountOf({ ...SERVICE, sandbox: true }, area)).not.toBe(accountOf(SERVICE, area));
  });
});
