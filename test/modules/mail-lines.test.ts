/** An application's own line in its mails: kept by kind and language, escaped, and never in place of code or link. */
import { describe, expect, test } from 'bun:test';
import { betaOf } from './beta/beta.ts';
import { createInstance, type Instance } from '../support/instance.ts';

const ADA = 'ada@example.com';

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication({ name: 'Harbour' });
  const path = `/api/applications/${application.id}/mail-lines`;
  const token = instance.workspaceKey;
  const set = (mail: string, locale: string, line: string | null) =>
    instance.call('PUT', path, { token, body: { mail, locale, line } });
  const ask = (locale = 'en') =>
    instance.call('POST', '/api/v1/auth/otp/send', { body: { email: ADA, clientId: application.clientId, locale } });
  return { instance, application, path, token, set, ask };
}

const newest = ({ sqlite }: Instance) =>
  sqlite.query('SELECT text, html, code FROM mails ORDER BY id DESC LIMIT 1').get() as {
    text: string;
    html: string;
    code: string;
  };

describe('a line of an application', () => {
  test('is in the mail and language that it was written for, above the foot, and in no other', async () => {
    const { instance, set, ask } = await setUp();
    expect((await set('sign_in_code', 'de', 'Fragen? Rufen Sie uns an.')).status).toBe(200);
    await ask('de');
    const { text, html, code } = newest(instance);
    for (const part of [text, html]) {
      expect(part).toContain('Fragen? Rufen Sie uns an.');
      expect(part.indexOf('Rufen Sie uns an')).toBeGreaterThan(part.lastIndexOf(`>${code}<`));
      expect(part.indexOf('Rufen Sie uns an')).toBeLessThan(part.indexOf('Sie erhalten diese E-Mail'));
    }
    expect(text.trimEnd().split('\n').at(-1)).toBe(`@localhost #${code}`);
    instance.clock.advance(15 * 60_000);
    await ask('fr');
    expect(newest(instance).text).not.toContain('Rufen');
  });

  test('replaces the one before, and null removes it', async () => {
    const { instance, path, token, set, ask } = await setUp();
    await set('sign_in_code', 'en', 'First.');
    const { json } = await set('sign_in_code', 'en', ' Second. ');
    expect(json.data.lines).toEqual([{ mail: 'sign_in_code', locale: 'en', line: 'Second.' }]);
    await ask();
    expect(newest(instance).text).toContain('\n\nHarbour: Second.\n\n');
    await set('sign_in_code', 'en', null);
    expect((await instance.call('GET', path, { token })).json.data.lines).toEqual([]);
    instance.clock.advance(15 * 60_000);
    await ask();
    expect(newest(instance).text).not.toContain('Second');
  });

  test('is text and nothing else: markup is shown as it was written', async () => {
    const { instance, set, ask } = await setUp();
    await set(
      'sign_in_code',
      'en',
      '</td></table><style>.code{display:none}</style><a href="https://evil.example">x</a>',
    );
    await ask();
    const { html, code } = newest(instance);
    expect(html).toContain('&lt;/td>&lt;/table>&lt;style>');
    expect(html).not.toContain('href="https://evil.example"');
    expect(html).toContain(`>${code}</div>`);
  });

  test.each([
    ['a line break', 'One\nTwo'],
    ['a control character', 'One\u0007'],
    ['an override of the reading order', 'One\u202etwo'],
    ['a character that stands for the code', 'One\ue000\ue001'],
    ['six digits like a code', 'Your code is 123456'],
    ['six digits of another script', 'Your code is ١٢٣٤٥٦'],
    ['more than 500 characters', 'x'.repeat(501)],
    ['nothing but space', '   '],
  ])('is refused with %s', async (_, line) => {
    const { set, instance, path, token } = await setUp();
    expect((await set('sign_in_code', 'en', line)).status).toBe(400);
    const query = new URLSearchParams({ mail: 'sign_in_code', locale: 'en', line });
    expect((await instance.call('GET', `${path}/preview?${query}`, { token })).status).toBe(400);
    expect((await instance.call('GET', path, { token })).json.data.lines).toEqual([]);
  });

  test.each([
    ['an unknown mail', { mail: 'newsletter', locale: 'en', line: 'Hello.' }],
    ['an unknown language', { mail: 'sign_in_code', locale: 'ja', line: 'Hello.' }],
    ['another member', { mail: 'sign_in_code', locale: 'en', line: 'Hello.', html: '<b>' }],
  ])('is refused for %s', async (_, body) => {
    const { instance, path, token } = await setUp();
    expect((await instance.call('PUT', path, { token, body })).status).toBe(400);
  });

  test('is out of reach without a credential, with a key that reads, and across workspaces', async () => {
    const { instance, application, path } = await setUp();
    const body = { mail: 'sign_in_code', locale: 'en', line: 'Hello.' };
    expect((await instance.call('PUT', path, { body })).status).toBe(401);
    expect((await instance.call('GET', path)).status).toBe(401);
    const reader = await instance.createKey(application.id, { access: 'read' });
    expect((await instance.call('PUT', path, { token: reader.token, body })).status).toBe(403);
    expect((await instance.call('GET', path, { token: reader.token })).status).toBe(200);
    const other = await instance.createApplication({ name: 'Lighthouse' });
    const stranger = await instance.createKey(other.id, { access: 'full' });
    for (const at of [path, `${path}/preview?mail=sign_in_code&locale=en`])
      expect((await instance.call('GET', at, { token: stranger.token })).status).toBe(404);
    expect((await instance.call('PUT', path, { token: stranger.token, body })).status).toBe(404);
  });

  test('is on record with who changed it', async () => {
    const { instance, application, set } = await setUp();
    await set('new_sign_in', 'el', 'Γεια.');
    expect(instance.auditKinds(application.id).at(-1)).toBe('application.updated');
  });

  test('is in the mails of the waitlist', async () => {
    const { instance, application, set } = await setUp();
    await set('waitlist_approved', 'en', 'Doors open at nine.');
    const beta = betaOf(instance, application);
    await beta.setGate('private_beta');
    await beta.ask(ADA, 'request');
    await instance.call('POST', `/api/applications/${application.id}/beta-policy`, {
      token: instance.workspaceKey,
      body: { policy: 'auto_accept', notify: true },
    });
    await instance.services.scheduler.runAll();
    await instance.services.tasks.runOnce();
    expect(newest(instance).text).toContain('Doors open at nine.');
  });
});

describe('the preview of a mail', () => {
  test('shows sender, subject, text and document in the language, with the line, and keeps nothing', async () => {
    const { instance, path, token } = await setUp();
    const query = new URLSearchParams({ mail: 'new_sign_in', locale: 'pl', line: 'Dzień dobry.' });
    const { json } = await instance.call('GET', `${path}/preview?${query}`, { token });
    expect(json.data).toMatchObject({ sender: 'Harbour', replyTo: null });
    expect(json.data.subject).toContain('Harbour');
    expect(json.data.text).toContain('\n\nHarbour: Dzień dobry.\n\n');
    const look = await instance.call('GET', `${path}/preview/look?${query}`, { token });
    expect(look.headers.get('content-type')).toStartWith('text/html');
    expect(look.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(look.text).toContain('Dzień dobry.');
    expect((await instance.call('GET', path, { token })).json.data.lines).toEqual([]);
  });
});
