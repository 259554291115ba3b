/** IP addresses: their canonical form, their /64 prefix, and which of them are public. */
import { BlockList, isIP } from 'node:net';

/**
 * Returns the canonical form of an address (RFC 5952); null for other text. IPv4-mapped IPv6 addresses become IPv4, and
 * the zone is removed: it only distinguishes the links of one machine.
 */
export function canonicalAddress(text: string): string | null {
  if (isIP(text) === 0) return null;
  if (!text.includes(':')) return text;
  const [address = ''] = text.split('%');
  const canonical = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1);
  if (canonical === undefined) return null;
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (!mapped) return canonical;
  const [, high = '', low = ''] = mapped;
  const value = (parseInt(high, 16) << 16) | parseInt(low, 16);
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
}

/** @param address in canonical form. */
export function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

/** Returns the rate-limit subject of an address: the IPv4 address, or an IPv6 customer's usual /64 prefix. */
export function addressPrefix(ip: string): string {
  const address = canonicalAddress(ip);
  if (address === null || familyOf(address) === 'ipv4') return address ?? ip;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const trailing = tail?.split(':').filter(Boolean) ?? [];
  const filled =
    tail === undefined ? groups : [...groups, ...Array(8 - groups.length - trailing.length).fill('0'), ...trailing];
  return `${filled.slice(0, 4).join(':')}::/64`;
}

/**
 * Addresses that are not globally reachable: IANA's special-purpose registries, and multicast. One list per family: a
 * rule for IPv6 would match IPv4 addresses in their mapped form.
 */
const NOT_PUBLIC = {
  ipv4: blockList('ipv4', [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    // The platform address of a large cloud, reachable from its machines alone.
    ['168.63.129.16', 32],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.31.196.0', 24],
    ['192.52.193.0', 24],
    ['192.88.99.0', 24],
    ['192.168.0.0', 16],
    ['192.175.48.0', 24],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
  ]),
  ipv6: blockList('ipv6', [
    // Only 2000::/3 is handed out as global unicast; everything else is special in some way.
    ['::', 3],
    ['4000::', 2],
    ['8000::', 1],
    ['2001::', 23],
    ['2001:db8::', 32],
    ['2002::', 16],
    ['3fff::', 20],
  ]),
};

function blockList(family: 'ipv4' | 'ipv6', networks: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, bits] of networks) list.addSubnet(network, bits, family);
  return list;
}

/** @param address in canonical form. */
export function isPublicAddress(address: string): boolean {
  const family = familyOf(address);
  return !NOT_PUBLIC[family].check(address, family);
}

/** Returns whether it is a loopback address. @param address in canonical form; a name is none. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
}

/** Returns whether a URL's host is a loopback address in any spelling, or `localhost`. */
export function isLoopback(host: string): boolean {
  const address = canonicalAddress(withoutBrackets(host));
  return address === null ? host.toLowerCase() === 'localhost' : isLoopbackAddress(address);
}

/** Also accepts names below `localhost`, which browsers keep on the machine, unlike some resolvers (RFC 6761 §6.3). */
export function isLoopbackName(host: string): boolean {
  return isLoopback(host) || host.toLowerCase().endsWith('.localhost');
}

/** Removes the brackets that URLs put around an IPv6 address. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
