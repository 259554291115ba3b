/** The address of the sign-in page, and the values that a page reads from its own address afterwards. */
import { describe, expect, test } from 'bun:test';
import { readReturn, signInUrl } from '@/client/gatehouse.ts';

const OPTIONS = { url: 'https://auth.example.com/', clientId: 'cli_1', returnTo: 'https://shop.example.com/in?a=1' };
const returning = (fragment: string, query = '?state=s1') => ({
  href: `https://shop.example.com/in${query}#${fragment}`,
});
const SIGNED_IN = 'token=est_1&expiresAt=2026-05-28T20%3A26%3A40.000Z';

describe('the sign-in URL', () => {
  test('carries the state within the return URL', () => {
    const url = new URL(signInUrl({ ...OPTIONS, state: 's 1', locale: 'uk' }));
    expect(url.origin + url.pathname).toBe('https://auth.example.com/sign-in');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      clientId: 'cli_1',
      returnTo: 'https://shop.example.com/in?a=1&state=s+1',
      locale: 'uk',
    });
  });

  test('has no state if the caller says so', () => {
    expect(new URL(signInUrl({ ...OPTIONS, state: null })).searchParams.get('returnTo')).toBe(OPTIONS.returnTo);
  });

  test('needs a state on a server: without one it is not made, and the error says what to do', () => {
    expect(() => signInUrl(OPTIONS)).toThrow(/on a server give state, kept in a cookie/);
    expect(() => signInUrl({ ...OPTIONS, state: undefined })).toThrow(TypeError);
  });

  test('needs addresses and a client', () => {
    const failing = (wrong: object) => () => signInUrl({ ...OPTIONS, state: 's', ...wrong });
    expect(failing({ url: undefined })).toThrow(/^signInUrl: url is missing.*GATEHOUSE/);
    expect(failing({ clientId: '' })).toThrow(/^signInUrl: clientId is empty.*CLIENT_ID/);
    expect(failing({ returnTo: '/in' })).toThrow(TypeError);
  });
});

describe('the return', () => {
  test('gives the token if the state matches', () => {
    const expected = { token: 'est_1', expiresAt: '2026-05-28T20:26:40.000Z' };
    expect(readReturn(returning(SIGNED_IN), { state: 's1' })).toEqual(expected);
    expect(readReturn(returning(SIGNED_IN, ''), { state: null })).toEqual(expected);
  });

  test('gives no token with another state', () => {
    const mismatch = { error: 'state_mismatch' };
    expect(readReturn(returning(SIGNED_IN), { state: 's2' })).toEqual(mismatch);
    expect(readReturn(returning(SIGNED_IN, ''), { state: 's1' })).toEqual(mismatch);
    expect(readReturn(returning(SIGNED_IN, '?state='), { state: '' })).toEqual(mismatch);
    expect(readReturn(returning(SIGNED_IN))).toEqual(mismatch);
  });

  test('gives the error, and null without a sign-in', () => {
    expect(readReturn(returning('error=access_denied'))).toEqual({ error: 'access_denied' });
    for (const fragment of ['', 'top', 'token=', 'expiresAt=1']) expect(readReturn(returning(fragment))).toBeNull();
  });
});
