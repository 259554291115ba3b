import { describe, expect, test } from 'bun:test';
import { isReturnUrlRegistered, parseReturnUrl } from '@/core/return-url.ts';

const STRICT = { isLoopbackAllowed: false, isLoopbackOpen: false };
const DEV = { isLoopbackAllowed: true, isLoopbackOpen: false };
const EPHEMERAL = { isLoopbackAllowed: true, isLoopbackOpen: true };

describe('parseReturnUrl', () => {
  test.each([
    ['https://shop.example.com'],
    ['https://shop.example.com/cb?next=%2Fcart'],
    ['HTTPS://SHOP.example.com/cb'],
    ['https://shop.example.com:8443/cb'],
    ['https://127.0.0.1/cb'],
  ])('accepts %s', (text) => {
    expect(parseReturnUrl(text, false)?.protocol).toBe('https:');
  });

  test.each([
    [''],
    ['/cb'],
    ['//evil.example'],
    ['/\\evil.example'],
    ['\\\\evil.example'],
    ['https:/\\evil.example'],
    ['https:\\\\evil.example'],
    ['https:evil.example'],
    ['https:///evil.example'],
    ['https:/evil.example'],
    ['http://shop.example.com/cb'],
    ['ftp://shop.example.com/cb'],
    ['javascript:alert(1)'],
    ['JaVaScRiPt://shop.example.com/%0aalert(1)'],
    ['data:text/html,<script>alert(1)</script>'],
    ['file:///etc/passwd'],
    ['blob:https://shop.example.com/1'],
    ['https://user@shop.example.com/cb'],
    ['https://:secret@shop.example.com/cb'],
    ['https://shop.example.com@evil.example/cb'],
    [' https://shop.example.com/cb'],
    ['https://shop.example.com/cb '],
    ['https://shop.example.com/c b'],
    ['https://shop.exam\tple.com/cb'],
    ['https://shop.example.com/\ncb'],
    ['java\nscript:alert(1)'],
    ['https://shop.example.com/cb\u0000'],
    ['https://shop.example.com/cb\u00a0'],
    ['https://shop.example.com:99999/'],
    ['https://'],
    [`https://shop.example.com/${'a'.repeat(2000)}`],
  ])('refuses %j as a return URL', (text) => {
    expect(parseReturnUrl(text, false)).toBeNull();
    expect(parseReturnUrl(text, true)?.hostname).toBeUndefined();
  });

  test('refuses a fragment, which is reserved for the token', () => {
    expect(parseReturnUrl('https://shop.example.com/cb#token=forged', false)).toBeNull();
    expect(parseReturnUrl('https://shop.example.com/cb#', false)).toBeNull();
  });

  test.each([['http://localhost:3000/cb'], ['http://127.0.0.1/cb'], ['http://[::1]:3000/cb']])(
    'accepts %s only where loopback is allowed',
    (text) => {
      expect(parseReturnUrl(text, true)).not.toBeNull();
      expect(parseReturnUrl(text, false)).toBeNull();
    },
  );

  test.each([
    ['http://localhost.evil.example/cb'],
    ['http://127.0.0.1.evil.example/cb'],
    ['http://evil.example/localhost'],
    ['http://localhost@evil.example/cb'],
    ['http://192.168.0.1/cb'],
    ['http://0.0.0.0/cb'],
    ['http://[::2]/cb'],
  ])('does not take %s for loopback', (text) => {
    expect(parseReturnUrl(text, true)).toBeNull();
  });
});

describe('isReturnUrlRegistered', () => {
  const registered = ['https://shop.example.com/cb'];

  test.each([
    ['https://shop.example.com/cb'],
    ['https://shop.example.com/cb/'],
    ['https://shop.example.com/cb/deeper?next=1'],
    ['https://shop.example.com/cb?x=/../../'],
    ['https://SHOP.example.com/cb'],
    ['https://shop.example.com:443/cb'],
    ['https://shop.example.com/a/../cb'],
  ])('accepts %s: same origin, at or below the path', (returnTo) => {
    expect(isReturnUrlRegistered(returnTo, registered, STRICT)).toBe(true);
  });

  test.each([
    ['https://shop.example.com/'],
    ['https://shop.example.com/cbevil'],
    ['https://shop.example.com/CB'],
    ['https://shop.example.com/c'],
    ['https://shop.example.com/x/cb'],
    ['https://shop.example.com/cb/../admin'],
    ['https://shop.example.com/cb/..'],
    ['https://shop.example.com/cb/%2e%2e/admin'],
    ['https://shop.example.com/cb/..%3b/admin'],
    ['https://shop.example.com/cb/%2e%2e%3b/admin'],
    ['https://shop.example.com/cb/..%252fadmin'],
    ['https://shop.example.com/cb/..%25255cadmin'],
    ['https://shop.example.com/cb/%2E./admin'],
    ['https://shop.example.com/cb/./../../admin'],
    ['https://shop.example.com.evil/cb'],
    ['https://shop.example.com.evil.example/cb'],
    ['https://evil-shop.example.com/cb'],
    ['https://evilshop.example.com/cb'],
    ['https://example.com/cb'],
    ['https://shop.example.com./cb'],
    ['https://shop.example.com:8443/cb'],
    ['https://shop.example.com:80/cb'],
    ['http://shop.example.com/cb'],
    ['http://shop.example.com:443/cb'],
    ['https://shop.example.com@evil.example/cb'],
    ['https://evil.example/https://shop.example.com/cb'],
    ['https://evil.example?https://shop.example.com/cb'],
    ['https://evil.example#https://shop.example.com/cb'],
    ['https://evil.example\\@shop.example.com/cb'],
    ['//shop.example.com/cb'],
    ['/\\shop.example.com/cb'],
    ['/cb'],
    ['javascript://shop.example.com/cb'],
    ['https://shop.example.com\t/cb'],
    ['https://shop.example.com/cb\n'],
    ['https://ѕhop.example.com/cb'],
  ])('refuses %j for another registered URL', (returnTo) => {
    for (const rules of [STRICT, DEV, EPHEMERAL])
      expect(isReturnUrlRegistered(returnTo, registered, rules)).toBe(false);
  });

  test('accepts the whole origin for a registered path of "/", and nothing else', () => {
    expect(isReturnUrlRegistered('https://a.example/x/y', ['https://a.example'], STRICT)).toBe(true);
    expect(isReturnUrlRegistered('https://b.example/x/y', ['https://a.example'], STRICT)).toBe(false);
  });

  test('accepts only paths below a registered path that ends in a slash', () => {
    expect(isReturnUrlRegistered('https://a.example/cb/x', ['https://a.example/cb/'], STRICT)).toBe(true);
    expect(isReturnUrlRegistered('https://a.example/cb', ['https://a.example/cb/'], STRICT)).toBe(false);
  });

  test('accepts nothing without a registration or for an invalid one', () => {
    expect(isReturnUrlRegistered('https://a.example/', [], STRICT)).toBe(false);
    expect(isReturnUrlRegistered('https://a.example/', ['', 'https://', '*', 'https://*'], STRICT)).toBe(false);
  });

  test('accepts loopback by registration in dev, always in an ephemeral instance, never on http otherwise', () => {
    const here = 'http://localhost:3000/cb';
    expect(isReturnUrlRegistered(here, [here], STRICT)).toBe(false);
    expect(isReturnUrlRegistered(here, [here], DEV)).toBe(true);
    expect(isReturnUrlRegistered(here, [], DEV)).toBe(false);
    expect(isReturnUrlRegistered('http://localhost:3001/cb', [here], DEV)).toBe(false);
    expect(isReturnUrlRegistered('http://127.0.0.1:3000/cb', [here], DEV)).toBe(false);
    expect(isReturnUrlRegistered(here, [], EPHEMERAL)).toBe(true);
    expect(isReturnUrlRegistered('https://evil.example/', [], EPHEMERAL)).toBe(false);
  });
});
