import { describe, expect, test } from 'bun:test';
import { BlockList } from 'node:net';
import { isAddressAllowed } from '../../src/outbound/address-guard.ts';

const NOTHING = new BlockList();

function opened(...subnets: [network: string, bits: number, family: 'ipv4' | 'ipv6'][]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) list.addSubnet(...subnet);
  return list;
}

describe('a non-public address', () => {
  test.each([
    ['this network', ['0.0.0.0', '0.0.0.1', '0.255.255.255']],
    ['private 10/8', ['10.0.0.0', '10.1.2.3', '10.255.255.255']],
    ['carrier-grade NAT', ['100.64.0.0', '100.100.100.200', '100.127.255.255']],
    ['loopback', ['127.0.0.1', '127.0.0.53', '127.255.255.255']],
    ['link-local and cloud metadata', ['169.254.0.1', '169.254.169.254', '169.254.170.2']],
    ['private 172.16/12', ['172.16.0.1', '172.17.0.1', '172.31.255.255']],
    ['private 192.168/16', ['192.168.0.1', '192.168.255.255']],
    ['protocol assignments', ['192.0.0.1', '192.0.0.192']],
    ['documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.1']],
    ['6to4 relay', ['192.88.99.0', '192.88.99.1', '192.88.99.255']],
    ['AS112 and AMT', ['192.31.196.0', '192.31.196.255', '192.52.193.1', '192.175.48.0', '192.175.48.255']],
    ['a platform address of a cloud', ['168.63.129.16']],
    ['benchmarking', ['198.18.0.1', '198.19.255.255']],
    ['multicast', ['224.0.0.1', '239.255.255.250']],
    ['reserved and broadcast', ['240.0.0.1', '255.255.255.255']],
  ])('is refused in IPv4: %s', (_, addresses) => {
    expect(addresses.filter((address) => isAddressAllowed(address, NOTHING))).toEqual([]);
  });

  test.each([
    ['unspecified and loopback', ['::', '::1', '0:0:0:0:0:0:0:1', '0000:0000:0000:0000:0000:0000:0000:0001']],
    ['IPv4-compatible', ['::127.0.0.1', '::7f00:1', '::8.8.8.8']],
    ['IPv4-translated', ['::ffff:0:127.0.0.1']],
    ['NAT64', ['64:ff9b::127.0.0.1', '64:ff9b::a00:1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::1']],
    ['discard-only', ['100::1']],
    ['unique local', ['fc00::1', 'fd00:ec2::254', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff']],
    ['link-local', ['fe80::1', 'febf::1', 'fe80::1%eth0', 'fe80::1%25eth0']],
    ['site-local', ['fec0::1', 'feff::1']],
    ['multicast', ['ff02::1', 'ff0e::1']],
    ['documentation', ['2001:db8::1', '3fff::1', '3fff:fff::1']],
    ['6to4', ['2002:7f00:1::', '2002:a00:1::1', '2002:808:808::1']],
    ['Teredo, ORCHID and other protocol assignments', ['2001::1', '2001:0:7f00:1::', '2001:10::1', '2001:20::1']],
    ['segment routing and unassigned space', ['5f00::1', '4000::1', '8000::1', 'e000::1']],
  ])('is refused in IPv6: %s', (_, addresses) => {
    expect(addresses.filter((address) => isAddressAllowed(address, NOTHING))).toEqual([]);
  });

  test.each([
    '::ffff:127.0.0.1',
    '::FFFF:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:7f00:0001',
    '0:0:0:0:0:ffff:127.0.0.1',
    '0:0:0:0:0:ffff:7f00:1',
    '0000:0000:0000:0000:0000:ffff:7f00:0001',
    '::ffff:10.0.0.1',
    '::ffff:a00:1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::ffff:0.0.0.0',
    '::ffff:0:0',
    '::ffff:192.168.1.1',
    '::ffff:255.255.255.255',
  ])('is refused as IPv4 embedded in IPv6: %s', (address) => {
    expect(isAddressAllowed(address, NOTHING)).toBe(false);
  });

  test.each([
    '',
    'localhost',
    '127.0.0.1:80',
    '[::1]',
    '0x7f000001',
    '2130706433',
    '127.1',
    '0177.1',
    '0177.0.0.1',
    '010.0.0.1',
    '0x7f.0.0.1',
    '8.8.8.08',
    '::ffff:0177.0.0.1',
    '::ffff:8.8.8',
    '8.8.8.8 ',
    '8.8.8.256',
    '1::2::3',
  ])('is refused if it is no address: "%s"', (text) => {
    expect(isAddressAllowed(text, NOTHING)).toBe(false);
  });
});

describe('a public address', () => {
  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.1',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '168.63.129.15',
    '168.63.129.17',
    '192.31.195.255',
    '192.31.197.0',
    '192.88.98.255',
    '192.88.100.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2001:4860:4860::8888',
    '2606:4700:4700::1111',
    '2a01:4f8::1',
    '2003::1',
    '2001:200::1',
    '3ffe::1',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
  ])('is allowed: %s', (address) => {
    expect(isAddressAllowed(address, NOTHING)).toBe(true);
  });
});

describe('a range that the operator opened', () => {
  test('allows its own addresses in every spelling, and no neighbours', () => {
    const list = opened(['10.20.0.0', 16, 'ipv4']);
    for (const address of ['10.20.0.1', '10.20.255.255', '::ffff:10.20.0.1', '::ffff:a14:1'])
      expect([address, isAddressAllowed(address, list)]).toEqual([address, true]);
    for (const address of ['10.19.255.255', '10.21.0.0', '127.0.0.1', '::ffff:10.21.0.0', '::1'])
      expect([address, isAddressAllowed(address, list)]).toEqual([address, false]);
  });

  test('can be IPv6, and opens no IPv4 address', () => {
    const list = opened(['fd12:3456::', 32, 'ipv6']);
    expect(isAddressAllowed('fd12:3456:789a::1', list)).toBe(true);
    expect(isAddressAllowed('FD12:3456:0:0:0:0:0:1', list)).toBe(true);
    expect(isAddressAllowed('fd12:3457::1', list)).toBe(false);
    expect(isAddressAllowed('10.0.0.1', list)).toBe(false);
  });

  test('does not restrict public addresses', () => {
    expect(isAddressAllowed('8.8.8.8', opened(['10.0.0.0', 8, 'ipv4']))).toBe(true);
  });
});
