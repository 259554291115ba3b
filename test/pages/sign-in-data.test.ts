import { expect, test } from 'bun:test';
import type { Application } from '@/store/applications.ts';
import { ownAddress, signInOffer } from '@/pages/sign-in/sign-in-data.ts';

const application = (signinMethods: Application['signinMethods']) =>
  ({ clientId: 'cli_acme', signinMethods }) as Application;

const dependencies = (baseUrl: string, name: string | null = 'Google') => ({
  baseUrl: () => baseUrl,
  providerFor: async () => (name === null ? null : { name }),
});

const own = '/sign-in?clientId=cli_acme';

test('only methods that the application allows are offered, and a provider only if one is configured', async () => {
  const auth = dependencies('https://auth.example.com');
  expect(await signInOffer(application([]), { own, locale: 'en' }, auth)).toEqual({
    isCodeAllowed: false,
    passkeyHost: null,
    provider: null,
  });
  expect(await signInOffer(application(['otp', 'passkey', 'provider']), { own, locale: 'en' }, auth)).toEqual({
    isCodeAllowed: true,
    passkeyHost: 'auth.example.com',
    provider: {
      name: 'Google',
      startUrl: `https://auth.example.com/api/auth/google/start?clientId=cli_acme&returnTo=${encodeURIComponent(`https://auth.example.com${own}`)}&locale=en`,
    },
  });
  const without = dependencies('https://auth.example.com', null);
  expect((await signInOffer(application(['provider']), { own, locale: 'en' }, without)).provider).toBeNull();
});

test.each([
  ['https://auth.example.com:8443', 'auth.example.com'],
  ['http://localhost:8080', 'localhost'],
  ['http://127.0.0.1:8080', 'localhost'],
  ['http://[::1]:8080', 'localhost'],
  ['http://203.0.113.5', null],
  ['http://[2001:db8::1]', null],
])('at %s passkeys belong to %p', async (baseUrl, host) => {
  expect((await signInOffer(application(['passkey']), { own, locale: 'en' }, dependencies(baseUrl))).passkeyHost).toBe(
    host,
  );
});

test('a return URL too long to nest in the page’s address is used directly', async () => {
  const returnTo = `https://acme.test/${'/'.repeat(1_950)}`;
  const page = ownAddress('/sign-in', { clientId: 'cli_acme', returnTo, locale: null });
  expect(page).not.toContain('locale');
  const offer = await signInOffer(
    application(['provider']),
    { own: page, returnTo, locale: 'en' },
    dependencies('https://auth.example.com'),
  );
  expect(new URL(offer.provider!.startUrl).searchParams.get('returnTo')).toBe(returnTo);
});
