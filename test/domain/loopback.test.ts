import { expect, test } from 'vitest';
import { isOnThisMachine } from '../../src/domain/loopback.js';

test.each([
  'http://127.0.0.1:8080/hook',
  'https://127.0.0.1/',
  'http://127.255.255.254/',
  'http://[::1]:8080/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://localhost:8080/',
  'http://LOCALHOST/',
  'http://%6cocalhost/',
  // The same address, as number, in octal and hexadecimal, short, and in full-width digits.
  'http://2130706433/',
  'http://017700000001/',
  'http://0x7f000001/',
  'http://127.1/',
  'http://0x7f.0.0.1/',
  'http://①②⑦.0.0.1/',
  'http://127.0.0.1./',
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
  // One that is mapped into IPv6 is not worth knowing.
  'http://[::ffff:127.0.0.1]/',
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
