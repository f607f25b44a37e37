import { describe, expect, test } from 'vitest';
import { findLeaksOfJob, SECRETS } from './canaries.js';

const SECRET = SECRETS.CONNECT_KEY;
const QUOTED = JSON.stringify(SECRET);
const TOKEN = { dataToken: { env: 'DATA_TOKEN' } };
const service = (changes: object) => JSON.stringify({ service: { account: 'acme', ...changes }, steps: [STEP] });
const credentials = (written: unknown) => service({ credentials: written });
const STEP = { kind: 'sms', input: { files: 'people.csv' }, destination: 'mobile', template: { text: 'Hi' } };

/** Where a secret may be written into a job file by mistake. */
const JOBS: Readonly<Record<string, string>> = {
  'the credentials': credentials(SECRET),
  'a list of credentials': credentials([SECRET]),
  'the shared key': credentials({ apiKey: SECRET }),
  'the name of a variable': credentials({ apiKey: { env: SECRET } }),
  'a key beside the variable': credentials({ apiKey: { env: 'KEY', value: SECRET } }),
  'the name of a key': credentials({ [SECRET]: 'x' }),
  'the key of sms': credentials({ sms: SECRET }),
  'the key of the gateway': credentials({ gateway: { apiKey: SECRET } }),
  'the key of the chat': credentials({ chat: { key: SECRET } }),
  'the token that reads': credentials({ campaign: { username: 'acme', dataToken: SECRET } }),
  'the token that acts': credentials({ campaign: { username: 'acme', ...TOKEN, actionToken: [SECRET] } }),
  'the user name': credentials({ campaign: { username: `acme:${SECRET}`, ...TOKEN } }),
  'the name of a user in an address': service({
    bases: { sms: `https://acme:${encodeURIComponent(SECRET)}@sms.example.com` },
  }),
  'the query of an address': service({ bases: { sms: `https://sms.example.com/?key=${encodeURIComponent(SECRET)}` } }),
  'a line that is no YAML': `service:\n  credentials:\n    apiKey: ${QUOTED} x\n   y: [`,
  'a text that never ends': `service:\n  credentials:\n    apiKey: ${QUOTED.slice(0, -1)}\n`,
  'a tag': `service:\n  credentials:\n    apiKey: !secret ${QUOTED}\n`,
  'an anchor': `service:\n  credentials:\n    apiKey: &key ${QUOTED}\n    sms: *key\n`,
  'a key that stands twice': `service:\n  credentials:\n    ? ${QUOTED}\n    : 1\n    ? ${QUOTED}\n    : 2\n`,
  'a second document': `${service({})}\n---\nkey: ${QUOTED}\n`,
  'a comment': `# ${SECRET}\nservice: 5\n`,
};

/** What stands where a job looks for its key, and is none. */
const SOURCES: Readonly<Record<string, { env?: Readonly<Record<string, string>>; file?: string }>> = {
  'a variable with a blank': { env: { KEY: ` ${SECRET}` } },
  'a variable with a second line': { env: { KEY: `${SECRET}\n${SECRET}` } },
  'a variable with a letter beyond ASCII': { env: { KEY: `${SECRET}é` } },
  'a variable of another name': { env: { KEI: SECRET } },
  'a file with a second line': { file: `${SECRET}\nother\n` },
  'a file with a NUL': { file: `${SECRET}\0` },
  'a file that is far too long': { file: SECRET.repeat(1000) },
};

function findLeaksOf(text: string, env: Readonly<Record<string, string>>, file?: string): Promise<string[]> {
  const files = { 'people.csv': 'mobile\n+6591234567\n', ...(file !== undefined && { 'keys/sms': file }) };
  return findLeaksOfJob(text, files, { env });
}

describe('a secret', () => {
  test.each(Object.keys(JOBS))('that is written into the job file, as %s, is not repeated', async (place) => {
    expect(await findLeaksOf(JOBS[place]!, {})).toEqual([]);
  });

  test.each(Object.keys(SOURCES))('that is no key, as %s, is not repeated', async (place) => {
    const { env = {}, file } = SOURCES[place]!;
    const apiKey = file === undefined ? { env: 'KEY' } : { file: 'keys/sms' };
    expect(await findLeaksOf(credentials({ apiKey }), env, file)).toEqual([]);
  });
});
