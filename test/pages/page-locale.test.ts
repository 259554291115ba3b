import { beforeEach, describe, expect, test } from 'bun:test';
import { sessionCookieName } from '@/http/session-cookie.ts';
import * as given from '../support/given.ts';
import { createInstance, type Instance } from '../support/instance.ts';

let instance: Instance;
let clientId: string;
let session: { token: string; userId: string };

beforeEach(async () => {
  instance = await createInstance();
  ({ clientId } = await instance.createApplication({ name: 'Acme' }));
  session = await instance.signIn(clientId, 'ada@example.com');
});

/** The locale of a rendered page; its texts are English without a catalogue. */
async function localeOfPage(path: string, headers: Record<string, string> = {}): Promise<string> {
  const { text } = await instance.call('GET', path, { headers: { accept: 'text/html', ...headers } });
  return JSON.parse(/id="page-data">(.*)<\/script>/.exec(text)![1]!).props.locale;
}

const cookieOf = (token: string, application = clientId) => ({
  cookie: `${sessionCookieName('http://localhost', application)}=${token}`,
  'accept-language': 'fr',
});

describe('the language of a page', () => {
  test.each(['/sign-in', '/device', '/account'])('follows the address of %s, else the browser', async (path) => {
    const header = { 'accept-language': 'fr-CA, de;q=0.5' };
    expect(await localeOfPage(`${path}?locale=el`, header)).toBe('el');
    expect(await localeOfPage(path, header)).toBe('fr');
    expect(await localeOfPage(`${path}?locale=xx`, header)).toBe('fr');
    expect(await localeOfPage(path)).toBe('en');
  });

  test('follows the person of the browser’s session rather than the browser', async () => {
    await given.person(instance, session.userId, { locale: 'de-AT' });
    const account = `/account/devices?clientId=${clientId}`;
    expect(await localeOfPage(account, cookieOf(session.token))).toBe('de');
    expect(await localeOfPage(`${account}&locale=el`, cookieOf(session.token))).toBe('el');
    expect(await localeOfPage(`${account}&locale=xx`, cookieOf(session.token))).toBe('de');
  });

  test('follows the browser for an unknown preference, or a session that is invalid, ended or of another application', async () => {
    const account = `/account?clientId=${clientId}`;
    await given.person(instance, session.userId, { locale: null });
    expect(await localeOfPage(account, cookieOf(session.token))).toBe('fr');
    await given.person(instance, session.userId, { locale: 'ja' });
    expect(await localeOfPage(account, cookieOf(session.token))).toBe('fr');
    await given.person(instance, session.userId, { locale: 'de' });
    expect(await localeOfPage(account, cookieOf('est_nonsense'))).toBe('fr');
    expect(await localeOfPage(account, cookieOf(session.token, 'cli_another'))).toBe('fr');
    expect(await localeOfPage('/account', cookieOf(session.token))).toBe('fr');
    await instance.call('DELETE', '/api/v1/session', { token: session.token });
    expect(await localeOfPage(account, cookieOf(session.token))).toBe('fr');
  });
});
