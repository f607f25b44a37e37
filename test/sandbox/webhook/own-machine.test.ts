import { lookup } from 'node:dns/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { isOnThisMachine, lookUpOnThisMachine } from '../../../src/sandbox/webhook/own-machine.js';

test.each([
  'http://127.0.0.1:8080/hook',
  'https://127.0.0.1/',
  'http://127.255.255.254/',
  'http://[::1]:8080/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://localhost:8080/',
  'http://LOCALHOST/',
  'http://%6cocalhost/',
  // The same address, as number, in octal and hexadecimal, short, in full-width digits, and mapped into IPv6.
  'http://2130706433/',
  'http://017700000001/',
  'http://0x7f000001/',
  'http://127.1/',
  'http://0x7f.0.0.1/',
  'http://①②⑦.0.0.1/',
  'http://127.0.0.1./',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:2]/',
  'http://me:word@127.0.0.1/',
  // A backslash ends the host, as browsers and undici read it.
  'http://127.0.0.1\\@hooks.example.com/',
])('%s is on this machine', (address) => {
  expect(isOnThisMachine(address)).toBe(true);
});

test.each([
  'https://hooks.example.com/volley',
  'http://10.0.0.1/',
  'http://192.168.1.20/',
  'http://169.254.169.254/latest/meta-data',
  'http://8.8.8.8/',
  'http://134744072/',
  'http://128.0.0.1/',
  'http://126.255.255.255/',
  'http://[2001:db8::1]/',
  'http://[fe80::1]/',
  'http://[::ffff:8.8.8.8]/',
  'http://[::ffff:126.0.0.1]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::127.0.0.1]/',
  // Every address of this machine, and so also those that others reach.
  'http://0.0.0.0/',
  'http://0/',
  'http://[::]/',
  // Names that resolve to loopback, or might: none is asked for.
  'http://127.0.0.1.nip.io/',
  'http://localtest.me/',
  'http://localhost.example.com/',
  'http://app.localhost/',
  'http://localhost./',
  'http://localhost.localdomain/',
  'http://ip6-localhost/',
  'http://127.0.0.1@hooks.example.com/',
  'http://localhost%2ehooks.example.com/',
  'ftp://127.0.0.1/',
  'file:///etc/passwd',
  '//127.0.0.1/',
  '127.0.0.1',
  'http://',
  '',
])('%s is outside of this machine', (address) => {
  expect(isOnThisMachine(address)).toBe(false);
});

const resolve = promisify(lookUpOnThisMachine);

test('localhost is loopback without asking, in the form that is asked for', async () => {
  const [v4, v6] = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  expect(await resolve('localhost', { all: true })).toEqual([v4, v6]);
  expect(await resolve('localhost', { all: true, family: 6 })).toEqual([v6]);
  expect(await resolve('localhost', {})).toBe('127.0.0.1');
  // As Node itself has it.
  expect([v4, v6]).toContainEqual(await lookup('127.0.0.1'));
});

test.each(['hooks.example.com', 'app.localhost', 'localhost.', ''])(
  'the name %j is refused without asking',
  async (name) => {
    await expect(resolve(name, { all: true })).rejects.toMatchObject({ code: 'ENOTFOUND' });
  },
);
