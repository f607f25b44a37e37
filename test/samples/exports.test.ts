import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommandInProcess } from '../e2e/command-in-process.js';
import { aFolder } from '../plan/a-plan.js';
import { SAMPLES } from './expected.js';

/** What a person who knows the file writes. */
interface ByHand {
  readonly destination: string;
  readonly input?: string;
  readonly name?: string;
  /** Column and value of the `where` that is proposed. */
  readonly where?: string;
}

const EXPORTS: Readonly<Record<string, ByHand>> = {
  'german-excel': {
    destination: 'Mobil',
    input: ', encoding: windows-1252, countryColumn: Land',
    name: 'Vorname',
    where: 'Newsletter: "ja"',
  },
  'google-contacts': { destination: 'Phone 1 - Value', name: 'First Name' },
  'hubspot-contacts': {
    destination: 'Mobile Phone Number',
    input: ', country: SG',
    name: 'First Name',
    where: 'Marketing contact status: "marketing contact"',
  },
  'klaviyo-profiles': { destination: 'Phone Number', name: 'First Name', where: 'SMS Marketing Consent: "subscribed"' },
  'mailchimp-audience': { destination: 'Phone Number', input: ', country: SG', name: 'First Name' },
  'phone-list': { destination: 'Phone' },
  'salesforce-report': { destination: 'Mobile', input: ', country: SG', name: 'First Name', where: 'Do Not Call: "0"' },
  'shopify-customers': {
    destination: 'Phone',
    input: ', countryColumn: Default Address Country Code',
    name: 'First Name',
    where: 'Accepts SMS Marketing: "yes"',
  },
  'whatsapp-business': { destination: 'Phone Number', name: 'Public Display Name' },
  'zoho-contacts': { destination: 'Mobile', input: ', country: SG', name: 'First Name' },
};

/** How many points more of the rows may be rejected. */
const MOST_POINTS = 1;

const directory = aFolder();

async function volley(...args: string[]) {
  const { stdout } = await runCommandInProcess(args, { cwd: directory, env: {} });
  return JSON.parse(stdout);
}

async function planRejected(job: string): Promise<number> {
  const { steps } = await volley('plan', job);
  const [{ counts }] = steps;
  return (100 * counts.rejected) / counts.read;
}

test('every export has a job written by hand', () => {
  const files = readdirSync(join(SAMPLES, 'exports')).map((file) => file.replace('.csv', ''));

  expect(files.toSorted()).toEqual(Object.keys(EXPORTS));
});

test.each(Object.entries(EXPORTS))(
  '%s: the guessed job plans as it is, as well as one by hand',
  async (name, byHand) => {
    const { destination, input = '', where } = byHand;
    copyFileSync(join(SAMPLES, 'exports', `${name}.csv`), join(directory, `${name}.csv`));
    writeFileSync(
      join(directory, `${name}-by-hand.yaml`),
      `service: { sandbox: true }
steps:
  - kind: sms
    input: { files: ${name}.csv${input} }
    destination: ${destination}
    template: { source: ACME, text: Hello }
`,
    );

    expect(await volley('init', `${name}.csv`)).toMatchObject({ kind: 'sms', destination, error: null });
    const written = readFileSync(join(directory, `${name}.yaml`), 'utf8');
    expect(/# "(.+)" is not blank in/.exec(written)?.[1]).toBe(byHand.name);
    expect(/# where: \{ (.+) \}/.exec(written)?.[1]).toBe(where);
    const [rejected, byHandRejected] = [await planRejected(`${name}.yaml`), await planRejected(`${name}-by-hand.yaml`)];
    expect(rejected).toBeLessThanOrEqual(byHandRejected + MOST_POINTS);
  },
);
