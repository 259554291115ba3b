import { describe, expect, test } from 'bun:test';
import { loadConfig } from '@/config.ts';
import { addressPrefix } from '@/core/ip-address.ts';
import { contextFactory } from '@/http/request-context.ts';
import { createLog } from '@/log.ts';

const NOW = Date.parse('2026-03-02T12:00:00.000Z');

function contexts(peer: string | null, environment: Record<string, string> = {}) {
  const logLines: string[] = [];
  const log = createLog('debug', { write: (line: string) => void logLines.push(line) });
  const create = contextFactory(loadConfig(environment), { clock: { now: () => NOW }, log, peerAddress: () => peer });
  const context = (headers: Record<string, string> = {}) => create(new Request('http://localhost/', { headers }));
  return { logLines, context, ip: (forwarded: string) => context({ 'x-forwarded-for': forwarded }).ip };
}

describe('the client address', () => {
  test('is the peer’s when no proxy is trusted, with any header', () => {
    const { ip, context } = contexts('198.51.100.1');
    expect(ip('203.0.113.9')).toBe('198.51.100.1');
    expect(context().ip).toBe('198.51.100.1');
  });

  test('is loopback for a request without a peer', () => {
    expect(contexts(null).context().ip).toBe('127.0.0.1');
  });

  const proxied = contexts('10.0.0.1', { GATEHOUSE_TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::/32' });

  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['  203.0.113.9  ', '203.0.113.9'],
    ['2a00::9', '2a00::9'],
    // Only the right end was written by a trusted proxy.
    ['1.1.1.1, 203.0.113.9', '203.0.113.9'],
    ['1.1.1.1, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['1.1.1.1, 10.0.0.3, 203.0.113.9, 2001:db8::5, 10.0.0.2', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['203.0.113.9, ::ffff:10.0.0.2', '203.0.113.9'],
    // When all of them are proxies, the farthest is the client.
    ['10.0.0.5, 10.0.0.2', '10.0.0.5'],
    // An invalid entry ends the search, since nothing left of it can be trusted.
    ['203.0.113.9, unknown', '10.0.0.1'],
    ['203.0.113.9, unknown, 10.0.0.2', '10.0.0.2'],
    ['', '10.0.0.1'],
    [',', '10.0.0.1'],
    // Some proxies write the port as well.
    ['203.0.113.9:1234', '203.0.113.9'],
    ['1.1.1.1:5, 203.0.113.9:1234, 10.0.0.2:80', '203.0.113.9'],
    ['[2a00::9]:1234', '2a00::9'],
    ['[2a00::9]', '2a00::9'],
    ['203.0.113.9:', '10.0.0.1'],
    ['203.0.113.9:1234567', '10.0.0.1'],
    ['<script>', '10.0.0.1'],
    ['999.1.1.1', '10.0.0.1'],
    ['1.2.3.', '10.0.0.1'],
    ['...', '10.0.0.1'],
    ['1.2.3.4.5', '10.0.0.1'],
    ['127.1', '10.0.0.1'],
  ])('behind a trusted proxy is read from the right: %j', (forwarded, expected) => {
    expect(proxied.ip(forwarded)).toBe(expected);
  });

  test('behind a trusted proxy is the peer’s when the header is missing', () => {
    expect(proxied.context().ip).toBe('10.0.0.1');
  });

  test('is read from a bounded number of hops', () => {
    // The fastest of several attempts counts, since a busy machine delays some.
    const took = Array.from({ length: 5 }, () => {
      const before = performance.now();
      expect(proxied.ip(`203.0.113.9, ${'10.0.0.2, '.repeat(1000)}10.0.0.2`)).toBe('10.0.0.2');
      return performance.now() - before;
    });
    expect(Math.min(...took)).toBeLessThan(50);
  });

  test('of a peer mapped into IPv6 is its IPv4 address, and is trusted as one', () => {
    expect(contexts('::ffff:198.51.100.1').context().ip).toBe('198.51.100.1');
    expect(contexts('::ffff:10.0.0.1', { GATEHOUSE_TRUSTED_PROXIES: '10.0.0.1' }).ip('203.0.113.9')).toBe(
      '203.0.113.9',
    );
  });

  test('from an untrusted proxy header is reported once, with the name of the setting', () => {
    const { ip, context, logLines } = contexts('198.51.100.1');
    context();
    expect(logLines).toEqual([]);
    ip('203.0.113.9');
    ip('203.0.113.10');
    expect(logLines).toHaveLength(1);
    expect(JSON.parse(logLines[0]!)).toMatchObject({
      level: 'warn',
      peer: '198.51.100.1',
      msg: expect.stringContaining('GATEHOUSE_TRUSTED_PROXIES'),
    });
    expect(proxied.logLines).toEqual([]);
  });
});

describe('the client country', () => {
  test.each([
    ['ch', 'CH'],
    ['CH', 'CH'],
    ['CHE', null],
    ['C1', null],
    ['XX', null],
    ['', null],
    ['CH, DE', null],
  ])('is read from the configured header of a trusted proxy when it is valid: %j', (value, expected) => {
    const { context } = contexts('198.51.100.1', {
      GATEHOUSE_COUNTRY_HEADER: 'CF-IPCountry',
      GATEHOUSE_TRUSTED_PROXIES: '198.51.100.1',
    });
    expect(context({ 'cf-ipcountry': value }).ipCountry).toBe(expected);
  });

  test('is unknown without the header, and without a configured one', () => {
    expect(contexts('198.51.100.1', { GATEHOUSE_COUNTRY_HEADER: 'CF-IPCountry' }).context().ipCountry).toBeNull();
    expect(contexts('198.51.100.1').context({ 'cf-ipcountry': 'CH' }).ipCountry).toBeNull();
  });
});

test('every request context has its own id and forbids caching and sniffing', () => {
  const { context } = contexts('198.51.100.1');
  const [left, right] = [context(), context({ 'x-request-id': 'chosen-by-the-client' })];
  expect(left.requestId).toMatch(/^req_[0-9a-z]{26}$/);
  expect(right.requestId).toMatch(/^req_[0-9a-z]{26}$/);
  expect(left.requestId).not.toBe(right.requestId);
  expect(left.headers).toEqual({
    'X-Request-Id': left.requestId,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  });
});

describe('the address prefix for rate limits', () => {
  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['2001:db8:1::2:3:4:5', '2001:db8:1:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['2001:DB8:0:0::1', '2001:db8:0:0::/64'],
    ['2001:0db8::0.0.0.1', '2001:db8:0:0::/64'],
    ['2001:db8::1%eth0', '2001:db8:0:0::/64'],
    ['::FFFF:203.0.113.9', '203.0.113.9'],
    ['0:0:0:0:0:ffff:cb00:7109', '203.0.113.9'],
  ])('of %s is %s', (ip, block) => {
    expect(addressPrefix(ip)).toBe(block);
  });

  test('is the same within a /64 network, and another in the next one', () => {
    expect(addressPrefix('2001:db8:1:2:aaaa::1')).toBe(addressPrefix('2001:db8:1:2:bbbb::2'));
    expect(addressPrefix('2001:db8:1:2::1')).not.toBe(addressPrefix('2001:db8:1:3::1'));
  });
});
