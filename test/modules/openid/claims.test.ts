/** Claims about a person: only those of the granted scope, and nothing that is not known. */
import { describe, expect, test } from 'bun:test';
import type { Envelope } from '@/core/envelope.ts';
import { acrOf, amrOf, atHash, CLAIMS, claimsFor, knownScopes } from '@/modules/openid/claims.ts';

const ENVELOPE: Envelope = {
  userId: 'usr_1',
  username: 'ada',
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  fullName: 'Ada Lovelace',
  givenName: 'Ada',
  familyName: 'Lovelace',
  avatarUrl: 'https://cdn.example.com/ada.webp',
  locale: 'en-GB',
  timezone: 'Europe/London',
  region: null,
  applicationId: 'app_1',
  status: 'active',
  roles: ['admin'],
  scopes: ['orders:read'],
  memberships: ['staff'],
  avatarSizes: null,
  avatarUpdatedAt: null,
  bannerSizes: null,
  bannerUpdatedAt: null,
  expiresAt: null,
};
const USER = { emailVerifiedAt: 1, locale: 'en-GB', timezone: 'Europe/London' };

const subjectOf = (changes: Partial<Envelope> = {}, profileUserId: string | null = null) => ({
  userId: 'usr_1',
  profileUserId,
  envelope: { ...ENVELOPE, ...changes },
});

describe('the claims of a scope', () => {
  test.each<[string, string[]]>([
    ['openid', ['sub']],
    ['', ['sub']],
    ['openid email', ['sub', 'email', 'email_verified']],
    ['openid roles', ['sub', 'roles']],
    ['openid groups', ['sub', 'groups']],
    ['openid address phone offline_access unknown', ['sub']],
    [
      'openid profile',
      [
        ...['sub', 'name', 'given_name', 'family_name', 'preferred_username', 'picture', 'locale', 'zoneinfo'],
        ...['roles', 'groups', 'scopes'],
      ],
    ],
  ])('%p are these and no others', (scope, names) => {
    const claims = claimsFor(scope, subjectOf(), USER);
    expect(Object.keys(claims).sort()).toEqual([...names].sort());
    expect(names.filter((name) => !CLAIMS.some((known) => known === name))).toEqual([]);
  });

  test('have the person’s values', () => {
    expect(claimsFor('email profile openid', subjectOf(), USER)).toEqual({
      sub: 'usr_1',
      name: 'Ada Lovelace',
      given_name: 'Ada',
      family_name: 'Lovelace',
      preferred_username: 'ada',
      picture: 'https://cdn.example.com/ada.webp',
      locale: 'en-GB',
      zoneinfo: 'Europe/London',
      email: 'ada@example.com',
      email_verified: true,
      roles: ['admin'],
      groups: ['staff'],
      scopes: ['orders:read'],
    });
  });

  test('leave out what is not known, such as a locale that is only our default', () => {
    const blank = { username: null, fullName: '', givenName: '', familyName: '', avatarUrl: null };
    const subject = subjectOf({ ...blank, locale: 'en', timezone: 'UTC' });
    const claims = claimsFor('profile', subject, { emailVerifiedAt: null, locale: null, timezone: null });
    expect(claims).toEqual({ sub: 'usr_1', roles: ['admin'], groups: ['staff'], scopes: ['orders:read'] });
  });

  test('say that somebody has no roles and groups any more', () => {
    const subject = subjectOf({ roles: [], memberships: [] });
    expect(claimsFor('roles groups', subject, USER)).toEqual({ sub: 'usr_1', roles: [], groups: [] });
  });

  test('call an address verified only if its holder has proved it to us', () => {
    const isVerified = (profileUserId: string | null, emailVerifiedAt: number | null) =>
      claimsFor('email', subjectOf({}, profileUserId), { ...USER, emailVerifiedAt })['email_verified'];
    expect([isVerified(null, 1), isVerified(null, null)]).toEqual([true, false]);
    // A workspace's own provider vouches for the member: whoever reads the wrong account's row does not change that.
    expect([isVerified('usr_2', null), isVerified('usr_2', 1)]).toEqual([false, false]);
  });
});

describe('a scope', () => {
  test('keeps the names that have a meaning, once and in one order', () => {
    expect(knownScopes('email openid phone email')).toEqual(['openid', 'email']);
    expect(knownScopes('')).toEqual([]);
    expect(knownScopes('OPENID openid\temail')).toEqual([]);
  });
});

describe('the sign-in', () => {
  test('by a passkey is phishing-resistant and has two factors; what others vouch for has no methods', () => {
    expect(['otp', 'passkey', 'provider', 'setup'].map((method) => [amrOf(method), acrOf(method)])).toEqual([
      [['otp'], undefined],
      [['pop', 'mfa'], 'phr'],
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });
});

describe('at_hash', () => {
  test('is that of the example in OpenID Connect Core 1.0, appendix A', () => {
    expect(atHash('RS256', 'jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y')).toBe('77QmUPtjPfzWtF2AnpK9RQ');
  });

  test('is half of a SHA-512 for Ed25519', () => {
    const whole = Buffer.from(new Bun.CryptoHasher('sha512').update('est_token').digest());
    expect(atHash('EdDSA', 'est_token')).toBe(whole.subarray(0, 32).toString('base64url'));
  });
});
