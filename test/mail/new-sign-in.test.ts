/** A person who signs in on a page of this server in another browser is told by mail; in a known browser never. */
import { describe, expect, test } from 'bun:test';
import { createInstance, type Instance } from '../support/instance.ts';

const ADA = 'ada@example.com';
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
/** The server's own origin. */
const PAGE = 'http://localhost:8080';
const VIENNA = '131.130.70.8';

interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

async function setUp() {
  const instance = await createInstance();
  instance.peer = VIENNA;
  const application = await instance.createApplication({ name: 'Harbour' });
  return { instance, ...application };
}

/** Signs in as on this server's page. @param cookie of the browser; none is a new browser. @returns its cookie. */
async function signInOnPage(
  instance: Instance,
  clientId: string,
  { cookie = '', email = ADA, userAgent = CHROME }: { cookie?: string; email?: string; userAgent?: string } = {},
): Promise<string> {
  const headers = { Origin: PAGE, 'User-Agent': userAgent, ...(cookie && { Cookie: cookie }) };
  // Codes to one address have a cool-down.
  instance.clock.advance(15 * 60_000);
  const sent = await instance.call('POST', '/api/v1/auth/otp/send', { headers, body: { email, clientId } });
  const answer = await instance.call('POST', '/api/v1/auth/otp/verify', {
    headers,
    body: { challengeId: sent.json.data.challengeId, code: instance.codeFor(email) },
  });
  expect(answer.status).toBe(200);
  const set = answer.headers.getSetCookie().find((one) => one.includes('gatehouse-known'));
  return set?.split(';')[0] ?? '';
}

/** Mails that announce a sign-in, oldest first. */
const announcements = ({ sqlite }: Instance, email = ADA) =>
  (sqlite.query('SELECT subject, text, html FROM mails WHERE recipient = ? ORDER BY id').all(email) as Mail[]).filter(
    ({ subject }) => subject.startsWith('New sign-in'),
  );

describe('a mail about a new sign-in', () => {
  test('is sent to a person who signs in in another browser, once for each', async () => {
    const { instance, clientId } = await setUp();
    await signInOnPage(instance, clientId);
    expect(announcements(instance)).toEqual([]);
    await signInOnPage(instance, clientId);
    expect(announcements(instance)).toHaveLength(1);
    await signInOnPage(instance, clientId);
    expect(announcements(instance)).toHaveLength(2);
  });

  test('is not sent for a browser that has signed the person in', async () => {
    const { instance, clientId } = await setUp();
    const first = await signInOnPage(instance, clientId);
    await signInOnPage(instance, clientId, { cookie: first });
    const { clientId: other } = await instance.createApplication({ name: 'Lighthouse' });
    await signInOnPage(instance, other, { cookie: first });
    expect(announcements(instance)).toEqual([]);
  });

  test('is sent where the browser is known for somebody else only', async () => {
    const { instance, clientId } = await setUp();
    const ofEve = await signInOnPage(instance, clientId, { email: 'eve@example.com' });
    await signInOnPage(instance, clientId);
    await signInOnPage(instance, clientId, { cookie: ofEve });
    expect(announcements(instance)).toHaveLength(1);
    expect(announcements(instance, 'eve@example.com')).toEqual([]);
  });

  test('is not sent for sign-ins through an application’s own calls, which show no browser', async () => {
    const { instance, clientId } = await setUp();
    await instance.signIn(clientId, ADA);
    instance.clock.advance(15 * 60_000);
    await instance.signIn(clientId, ADA);
    expect(announcements(instance)).toEqual([]);
  });

  test('is not sent to somebody imported who comes for the first time', async () => {
    const { instance, clientId, id } = await setUp();
    await instance.call('POST', `/api/applications/${id}/users/bulk`, {
      token: instance.workspaceKey,
      body: { users: [{ email: ADA }] },
    });
    await signInOnPage(instance, clientId);
    expect(announcements(instance)).toEqual([]);
  });

  test('says when, where and with what, and opens the devices of that application', async () => {
    const { instance, clientId } = await setUp();
    await signInOnPage(instance, clientId);
    instance.sqlite.query('UPDATE users SET timezone = ? WHERE email = ?').run('Europe/Vienna', ADA);
    await signInOnPage(instance, clientId);
    const [mail] = announcements(instance) as [Mail];
    const at = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short', timeZone: 'Europe/Vienna' });
    for (const part of [mail.text, mail.html]) {
      expect(part).toContain(`Time: ${at.format(instance.clock.now())}`);
      expect(part).toContain('Place: Austria');
      expect(part).toContain('Browser: Chrome on Windows');
      expect(part).toContain(`/account/devices?clientId=${clientId}`);
    }
  });

  test('names UTC where the person’s time zone is unknown', async () => {
    const { instance, clientId } = await setUp();
    await signInOnPage(instance, clientId);
    await signInOnPage(instance, clientId);
    expect(announcements(instance)[0]?.text).toMatch(/Time: .* UTC\n/);
  });
});

describe('a code mail', () => {
  const newest = ({ sqlite }: Instance) =>
    sqlite.query('SELECT text, html FROM mails ORDER BY id DESC LIMIT 1').get() as Mail;
  const ask = (instance: Instance, clientId: string, userAgent: string) =>
    instance.call('POST', '/api/v1/auth/otp/send', {
      body: { email: ADA, clientId },
      headers: { 'User-Agent': userAgent },
    });

  test('says when, with what and where it was asked for', async () => {
    const { instance, clientId } = await setUp();
    await ask(instance, clientId, CHROME);
    const { text, html } = newest(instance);
    expect(text).toMatch(/Asked for at \S+\s[AP]M UTC from Chrome on Windows, Austria\./);
    expect(html).toMatch(/Asked for at \S+\s[AP]M UTC from Chrome on Windows, Austria\./);
  });

  test('names neither a program nor the place of an application’s server', async () => {
    const { instance, clientId } = await setUp();
    await ask(instance, clientId, 'acme-backend/2.0');
    const { text } = newest(instance);
    expect(text).toMatch(/Asked for at \S+\s[AP]M UTC\.\n/);
    expect(text).not.toContain('Austria');
  });

  test.each([
    'Mozilla/5.0 Your account is blocked: call +1 900 123 or see evil.example/ now',
    'Mozilla/5.0 (evil.example) evil.example/1.0 evil.example/ (evil.example)',
    '<a href=https://evil.example>Mozilla</a>',
    `${CHROME} evil.example/1`,
  ])('contains nothing of what a caller writes as its user agent: %s', async (userAgent) => {
    const { instance, clientId } = await setUp();
    await ask(instance, clientId, userAgent);
    const { text, html } = newest(instance);
    expect(text + html).not.toMatch(/evil|blocked|900 123/);
  });
});
