import { describe, expect, test } from 'bun:test';
import { sessionCookie } from '@/http/session-cookie.ts';
import { createInstance } from '../support/instance.ts';

const EXPIRY = Date.parse('2026-04-01T12:00:00.000Z');

const withCookie = (cookie: string) => new Request('http://localhost/', { headers: { cookie } });

describe('the session cookie', () => {
  test('on https is bound to this host, hidden from scripts and not sent with writes of other sites', () => {
    const attributes = sessionCookie('https://auth.example.com').write('est_1', EXPIRY).split('; ').toSorted();
    expect(attributes).toEqual([
      'Expires=Wed, 01 Apr 2026 12:00:00 GMT',
      'HttpOnly',
      'Path=/',
      'SameSite=Lax',
      'Secure',
      '__Host-gatehouse=est_1',
    ]);
  });

  test('on http has neither the prefix nor Secure, which browsers would refuse there', () => {
    const cookie = sessionCookie('http://localhost:8080').write('est_1', EXPIRY);
    expect(cookie).toStartWith('gatehouse=est_1; ');
    expect(cookie).not.toContain('Secure');
    expect(cookie).toContain('HttpOnly');
  });

  test('is cleared at once with the same name and attributes', () => {
    const cookie = sessionCookie('https://auth.example.com').clear();
    expect(cookie).toStartWith('__Host-gatehouse=; ');
    for (const attribute of ['Path=/', 'Max-Age=0', 'HttpOnly', 'Secure', 'SameSite=Lax'])
      expect(cookie).toContain(attribute);
  });

  test('is read by its exact name', () => {
    const cookie = sessionCookie('http://localhost:8080');
    expect(cookie.read(withCookie('other=1; gatehouse=est_1; more=2'))).toBe('est_1');
    for (const header of ['xgatehouse=est_1', '__Host-gatehouse=est_1', 'other=gatehouse=est_1', 'gatehouse'])
      expect(cookie.read(withCookie(header))).toBeNull();
    expect(sessionCookie('https://auth.example.com').read(withCookie('gatehouse=est_1'))).toBeNull();
  });

  test.each([['gatehouse=%E0%A4'], ['gatehouse=%'], ['gatehouse=%00'], [`gatehouse=${'x'.repeat(10_000)}`]])(
    'is ignored when damaged, without a server error: %.30s',
    async (cookie) => {
      const answer = await (await createInstance()).call('GET', '/api/applications', { headers: { cookie } });
      expect([answer.status, answer.json.error]).toEqual([401, 'unauthenticated']);
    },
  );
});
