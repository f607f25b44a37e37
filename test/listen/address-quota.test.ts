import { describe, expect, test } from 'vitest';
import { AddressQuota, networkOf } from '../../src/listen/address-quota.js';

describe('quota', () => {
  test('gives each address its share, and all together the total', () => {
    const quota = new AddressQuota({ total: 10, perAddress: 6 });
    expect(quota.hold('a', 6)).toBe(true);
    expect(quota.hold('a', 1)).toBe(false);
    expect(quota.hold('b', 5)).toBe(false);
    expect(quota.hold('b', 4)).toBe(true);
    expect(quota.hold('c', 1)).toBe(false);
  });

  test('holds nothing of what it refuses, and gives again what was released', () => {
    const quota = new AddressQuota({ total: 10, perAddress: 6 });
    expect(quota.hold('a', 7)).toBe(false);
    expect(quota.hold('a', 6)).toBe(true);
    quota.release('a', 2);
    expect(quota.hold('a', 3)).toBe(false);
    expect(quota.hold('a', 2)).toBe(true);
  });
});

describe('one address', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['2001:db8:0:1::', '2001:db8:0:1'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    [undefined, ''],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
