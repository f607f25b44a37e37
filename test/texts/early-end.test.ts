import { describe, expect, it } from 'vitest';
import { describeRunEnd } from '../../src/command/failure.js';
import { PLAIN_SCREEN } from '../../src/command/screen.js';
import { findTimeFault } from '../../src/kinds/schedule.js';
import { formatSummary } from '../../src/texts/summary-text.js';
import { aSummary } from './a-summary.js';

const REAL = { isSandbox: false, nowMs: 0 };

describe('the account', () => {
  it.each([
    [
      'its host name is unknown (ENOTFOUND)',
      'check service.bases and service.region, and that this machine reaches it',
    ],
    ['its host name cannot be looked up (EAI_AGAIN)', 'whatever HTTPS_PROXY says'],
    ['no secure connection can be made (ERR_SSL_WRONG_VERSION_NUMBER)', 'check service.bases and service.region'],
    ['its certificate is not trusted (SELF_SIGNED_CERT_IN_CHAIN)', 'NODE_EXTRA_CA_CERTS'],
    ['its certificate is not trusted (CERT_NOT_YET_VALID)', 'the clock of this machine'],
    ['its certificate is not trusted (CERT_HAS_EXPIRED)', 'the clock of this machine'],
    ['its certificate is for another host (CERT_ALTNAME_INVALID)', 'check service.bases and service.region'],
    ['no connection within 10 s (UND_ERR_CONNECT_TIMEOUT)', 'HTTPS_PROXY'],
  ])('of a run whose service was never reached (%s) says what to look at', (detail, said) => {
    const stop = { reason: 'unavailable', detail };
    const summary = aSummary({ state: 'stopped', exitCode: 75, stop });
    const text = formatSummary(summary, { ...REAL, screen: { ...PLAIN_SCREEN, columns: 300 } });
    expect(text).toContain(`the service cannot be reached for now (${detail})`);
    expect(text).toContain(said);
    expect(describeRunEnd(summary).error?.hint).toContain(said);
  });

  it.each(["HTTP 404 without the service's error body", 'answers that account for no row'])(
    'of a run that got answers of something in between (%s) says to look at that',
    (detail) => {
      const stop = { reason: 'unavailable', detail };
      const text = formatSummary(aSummary({ state: 'stopped', exitCode: 75, stop }), REAL).replace(/\s+/g, ' ');
      expect(text).toContain('Next: if it stays so, check service.bases, and what stands between');
    },
  );

  it('of a run that stopped for a sentence of the service ends with one full stop', () => {
    const stop = { reason: 'refused', detail: 'Cannot read a campaign: Campaign not found.' };
    const text = formatSummary(aSummary({ state: 'stopped', exitCode: 4, stop }), {
      ...REAL,
      screen: { ...PLAIN_SCREEN, columns: 200 },
    });
    expect(text.split('\n')[0]).toMatch(/Campaign not found\.$/);
    expect(text).not.toContain('found..');
  });

  it('of a run that the service refused for where it is sent says that the command knows how to go on', () => {
    const stop = { reason: 'request-refused', detail: 'code 1001, No (it is about service.subAccountId)' };
    const text = formatSummary(aSummary({ state: 'stopped', exitCode: 4, stop }), { ...REAL, job: 'jobs/sale.yaml' });
    expect(text.replace(/\s+/g, ' ')).toContain('or says how to go on volley run jobs/sale.yaml ');
    expect(text).not.toContain('volley retry');
  });

  it.each(['scheduled', 'expiry'] as const)(
    'of a run whose %s passed while it sent says to plan the rest: its plan keeps the time',
    (key) => {
      const times = { scheduled: undefined, expiry: undefined, [key]: { at: '2026-11-22T11:00:00Z' } };
      const fault = findTimeFault(times, Date.parse('2026-11-22T12:00:00Z'));
      const stop = { reason: 'guard', detail: `step 1: ${fault?.message}` };
      const text = formatSummary(aSummary({ state: 'stopped', exitCode: 4, stop }), { ...REAL, job: 'jobs/sale.yaml' });
      expect(text).toContain('--only unprocessed --job jobs/sale.yaml');
      expect(text).not.toContain('volley run');
    },
  );
});
