import { describe, expect, it } from 'vitest';
import { describeRunEnd } from '../../src/command/failure.js';
import { PLAIN_SCREEN } from '../../src/command/screen.js';
import { formatSummary } from '../../src/texts/summary-text.js';
import { aSummary } from './a-summary.js';

const REAL = { isSandbox: false, nowMs: 0 };

describe('the account', () => {
  it.each([
    ['unreachable', 'check service.bases and service.region, and that this machine reaches it'],
    ['unreachable', 'whatever HTTPS_PROXY says'],
    ['secure-connection', 'check service.bases and service.region'],
    ['certificate-authority', 'NODE_EXTRA_CA_CERTS'],
    ['certificate-time', 'the clock of this machine'],
  ] as const)('of a run whose service was never reached (%s) says what to look at', (fault, said) => {
    const detail = 'EXAMPLE';
    const stop = { reason: 'unavailable', detail, fault } as const;
    const summary = aSummary({ state: 'stopped', exitCode: 75, stop });
    const text = formatSummary(summary, { ...REAL, screen: { ...PLAIN_SCREEN, columns: 300 } });
    expect(text).toContain(`the service cannot be reached for now (${detail})`);
    expect(text).toContain(said);
    expect(describeRunEnd(summary).error?.hint).toContain(said);
  });

  it('of a run that got answers of something in between says to look at that', () => {
    const stop = { reason: 'unavailable', detail: 'HTTP 404', fault: 'in-between' } as const;
    const text = formatSummary(aSummary({ state: 'stopped', exitCode: 75, stop }), REAL).replace(/\s+/g, ' ');
    expect(text).toContain('it cannot go on for now (HTTP 404)');
    expect(text).toContain('Next: if it stays so, check service.bases, and what stands between');
  });

  it('of a run that stopped for a sentence of the service ends with one full stop', () => {
    const stop = { reason: 'refused', detail: 'Cannot read a campaign: Campaign not found.' } as const;
    const text = formatSummary(aSummary({ state: 'stopped', exitCode: 4, stop }), {
      ...REAL,
      screen: { ...PLAIN_SCREEN, columns: 200 },
    });
    expect(text.split('\n')[0]).toMatch(/Campaign not found\.$/);
    expect(text).not.toContain('found..');
  });

  it('of a run that the service refused for where it is sent says that the command knows how to go on', () => {
    const stop = { reason: 'request-refused', detail: 'code 1001, No', fault: 'service-setting' } as const;
    const text = formatSummary(aSummary({ state: 'stopped', exitCode: 4, stop }), { ...REAL, job: 'jobs/sale.yaml' });
    expect(text.replace(/\s+/g, ' ')).toContain('or says how to go on volley run jobs/sale.yaml ');
    expect(text).not.toContain('volley retry');
  });

  it('of a run that a time of its step ended says to plan the rest: its plan keeps the time', () => {
    const stop = { reason: 'guard', detail: 'step 1: it is over', fault: 'time-passed' } as const;
    const text = formatSummary(aSummary({ state: 'stopped', exitCode: 4, stop }), { ...REAL, job: 'jobs/sale.yaml' });
    expect(text).toContain('--only unprocessed --job jobs/sale.yaml');
    expect(text).not.toContain('volley run');
  });
});
