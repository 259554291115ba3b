/** Loopback hosts: warnings about encryption, plain-text mail and keys over http depend on them. */
import { expect, test } from 'bun:test';
import { isLoopback, isLoopbackAddress, isLoopbackName } from '@/core/ip-address.ts';

test.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.8.9.10', '::1', '[::1]', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'])(
  '%s is loopback',
  (host) => {
    expect(isLoopback(host)).toBe(true);
    expect(isLoopbackName(host)).toBe(true);
  },
);

test.each([
  '127.example.com',
  '127.0.0.1.example.com',
  'localhost.example.com',
  '10.0.0.1',
  '[::2]',
  '::',
  '0.0.0.0',
  '',
])('%s is not loopback', (host) => {
  expect(isLoopback(host)).toBe(false);
  expect(isLoopbackName(host)).toBe(false);
  expect(isLoopbackAddress(host)).toBe(false);
});

test('names below localhost are loopback for browsers only, since a resolver could lead elsewhere', () => {
  expect([isLoopbackName('shop.localhost'), isLoopback('shop.localhost')]).toEqual([true, false]);
});
