/**
 * Canaries: looks for every secret that a scene with all kinds of them has handed out, in every table and column, in
 * the bytes of the files, and in the log. Secrets are collected from answers, cookies, mails and provider calls as
 * they pass, so a new kind is covered without being named here.
 */
import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, MINUTE } from '@/core/clock.ts';
import { SECRET_PREFIXES } from '@/core/secret.ts';
import { MailError, type MailTransport } from '@/mail/transport.ts';
import { guardedFetch, type GuardedFetch } from '@/outbound/guarded-fetch.ts';
import { findConsole } from '@/store/applications.ts';
import { type Mail, queueMail } from '@/store/mails.ts';
import { sceneOf } from '../modules/openid/scene.ts';
import { changeEmail, deleteAccount, prove } from '../modules/account/account.ts';
import { sceneOf as devices } from '../modules/devices/scene.ts';
import { register, signInWith } from '../modules/passkeys/passkeys.ts';
import { RETURN_TO, sceneOf as providers, startProvider } from '../modules/provider/scene.ts';
import * as given from '../support/given.ts';
import { ENGINE } from '../support/engine.ts';
import { tableNames } from '../support/stored.ts';
import { createInstance, type Instance } from '../support/instance.ts';

const SECRET = new RegExp(`(?:${Object.values(SECRET_PREFIXES).join('|')})_[0-9A-Za-z]{49}`, 'g');
const ACCESS_TOKEN = 'provider-access-token-7f1c0a';
const REFRESH_TOKEN = 'provider-refresh-token-91b3e4';
const SMTP_PASSWORD = 'smtp-password-5d2e88';
const PROVIDER_SECRET = 'provider-client-secret-c4f0d7';
const FORGOTTEN = 'Cassandra Canary-Lovelace';
const NOTHING = new BlockList();

/** Secrets by a name that describes each. */
type Seen = Map<string, string>;

const OWN_PAGE = { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:8080', 'gatehouse-page': 'sign-in' };

/** A mail server that accepts everything, but permanently rejects mail for `refused.example`. */
function mailServer(): { transport: MailTransport; taken: Mail[] } {
  const taken: Mail[] = [];
  const transport: MailTransport = {
    slots: 10,
    async send(mail) {
      taken.push(mail);
      if (mail.recipient.endsWith('@refused.example')) throw new MailError('SMTP 550 5.1.1', true);
    },
    close() {},
  };
  return { transport, taken };
}

/** Puts canaries into a provider's answers and collects the secrets sent to it. */
function recordProvider(fetch: GuardedFetch, seen: Seen): GuardedFetch {
  return async (request) => {
    const form = new URLSearchParams(String(request.body ?? ''));
    for (const name of ['code', 'code_verifier', 'client_secret'])
      if (form.has(name)) seen.set(`provider ${name} ${seen.size}`, form.get(name)!);
    const answer = await fetch(request);
    if (!request.url.endsWith('/token')) return answer;
    const tokens = JSON.parse(new TextDecoder().decode(answer.body));
    seen.set(`provider id_token ${seen.size}`, tokens.id_token);
    const body = JSON.stringify({ ...tokens, access_token: ACCESS_TOKEN, refresh_token: REFRESH_TOKEN });
    return { ...answer, body: new TextEncoder().encode(body) };
  };
}

/** Collects secrets from answers: bodies, addresses, cookies, and what is sent to a provider. */
function gatherAnswers({ app }: Instance, seen: Seen): void {
  const { fetch } = app;
  app.fetch = async (request) => {
    const response = await fetch(request);
    const note = (kind: string, value: string | null) => {
      if (value) seen.set(`${kind} ${seen.size}`, value);
    };
    const location = response.headers.get('location') ?? '';
    const cookies = response.headers.getSetCookie();
    const text = [location, ...cookies, await response.clone().text()].join('\n');
    for (const [secret] of text.matchAll(SECRET)) note(secret.split('_')[0]!, secret);
    for (const line of cookies) note('cookie', Bun.Cookie.parse(line).value);
    const query = URL.parse(location)?.searchParams;
    for (const name of ['state', 'nonce', 'code']) note(`provider ${name}`, query?.get(name) ?? null);
    const userCode = /"user_code":\s*"([^"]+)"/.exec(text)?.[1];
    note('user code', userCode ?? null);
    note('user code', userCode?.replace('-', '') ?? null);
    return response;
  };
}

async function playScene() {
  const seen: Seen = new Map([
    ['access token', ACCESS_TOKEN],
    ['refresh token', REFRESH_TOKEN],
    ['SMTP password', SMTP_PASSWORD],
    ['provider client secret', PROVIDER_SECRET],
  ]);
  const { transport, taken } = mailServer();
  const provider = await startProvider();
  const outbound = recordProvider(guardedFetch({ allowed: NOTHING, isLoopbackAllowed: true }), seen);
  const instance = await createInstance({
    mode: 'ephemeral',
    mail: transport,
    outbound,
    environment: {
      ...provider.environment,
      GATEHOUSE_SMTP_URL: `smtp://user:${SMTP_PASSWORD}@127.0.0.1`,
      GATEHOUSE_LIMIT_CODES_PER_EMAIL: '1000',
    },
  });
  seen.set('workspace key', instance.workspaceKey);
  seen.set('instance provider secret', provider.environment['GATEHOUSE_GOOGLE_CLIENT_SECRET']!);
  gatherAnswers(instance, seen);
  const { codeFor } = instance;
  // The database drops the code once the mail is sent.
  instance.codeFor = (email) =>
    codeFor(email) ?? taken.findLast(({ recipient, code }) => recipient === email && code !== null)!.code!;
  const sent = async () => instance.services.mail.runOnce();
  const manage = async (method: string, path: string, body?: unknown) => {
    const answer = await instance.call(method, path, { token: instance.workspaceKey, body });
    expect([method, path, answer.status]).toEqual([method, path, 200]);
    return answer.json.data;
  };
  const later = () => instance.clock.advance(16 * MINUTE);

  const application = await instance.createApplication({ returnUrls: [RETURN_TO] });
  const { id, clientId } = application;
  const path = `/api/applications/${id}`;

  // Sessions, with and without the cookies of the hosted page; a setup link; a code that is never used.
  const ada = await instance.signIn(clientId, 'ada@example.com');
  for (const client of [clientId, 'console']) {
    const email = client === 'console' ? 'owner@example.com' : 'bob@example.com';
    const wanted = { email, clientId: client };
    const asked = await instance.call('POST', '/api/v1/auth/otp/send', { body: wanted, headers: OWN_PAGE });
    await sent();
    const body = { challengeId: asked.json.data.challengeId, code: instance.codeFor(email) };
    const entered = await instance.call('POST', '/api/v1/auth/otp/verify', { body, headers: OWN_PAGE });
    expect(entered.headers.getSetCookie().length).toBeGreaterThan(0);
  }
  const setup = await instance.services.setup.createLink();
  seen.set(`egs ${seen.size}`, setup);
  for (const email of ['nobody@example.com', 'nobody@refused.example'])
    await instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId } });
  const recovery = { token: setup, email: 'owner@example.com' };
  expect((await instance.call('POST', '/api/setup', { body: recovery })).status).toBe(200);
  seen.set(`egs ${seen.size}`, await instance.services.setup.createLink());

  // Keys, secrets and their rotations.
  const key = await manage('POST', `${path}/api-keys`, { name: 'backend', access: 'full' });
  await manage('POST', `${path}/api-keys/${key.id}/rotate`);
  await manage('POST', `${path}/api-keys/${key.id}/rotate-with-grace`);
  await given.workspaceKey(instance);
  await manage('POST', `${path}/rotate-secret`);
  const { clientSecret } = await manage('POST', `${path}/rotate-secret`);
  // An OAuth client authenticates in every supported way and introspects tokens; one request is malformed.
  const basic = { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` };
  for (const [token, status] of [
    [ada.token, 200],
    [clientSecret, 200],
    [undefined, 400],
  ] as const) {
    const shown = { token, client_id: clientId, client_secret: clientSecret };
    const inBody = await instance.call('POST', '/api/v1/introspect', { body: shown });
    const inHeader = await instance.call('POST', '/api/v1/introspect', { body: { token }, headers: basic });
    const twice = await instance.call('POST', '/api/v1/revoke', { body: shown, headers: basic });
    expect([inBody.status, inHeader.status, twice.status]).toEqual([status, status, 400]);
  }
  const misplaced = { token: clientSecret, client_id: clientSecret, client_secret: ada.token };
  expect((await instance.call('POST', '/api/v1/revoke', { body: misplaced })).status).toBe(401);
  const webhook = await manage('POST', `${path}/webhooks`, { url: `${provider.issuer}/hook`, events: ['*'] });
  await manage('POST', `${path}/webhooks/${webhook.id}/rotate-secret`);
  await manage('POST', `${path}/webhooks/${webhook.id}/test`);

  // Three devices: one connected, one approved, one pending.
  const shop = devices(instance, application);
  await shop.connect(ada);
  const approved = await shop.begin();
  await shop.decide('approve', approved.user_code, ada);
  await shop.begin();
  const console_ = devices(instance, (await findConsole(instance.db.reader))!);
  await console_.connect(await console_.signIn('owner@example.com'));

  // Passkeys; sign-ins by provider, finished and pending, through the instance's client and the application's own.
  const { passkey } = await register(instance, ada.token);
  expect((await signInWith(instance, clientId, passkey)).status).toBe(200);
  const customer = providers(instance, application, provider);
  expect((await customer.signIn({ email: 'carl@example.com', sub: 'carl' })).headers.get('location')).toContain(
    '#token=',
  );
  await customer.begin();
  const body = { clientId: 'shop.apps', clientSecret: PROVIDER_SECRET, issuer: provider.issuer };
  await manage('PUT', `${path}/identity-provider`, body);
  provider.claims = { aud: 'shop.apps', email: 'dora@example.com', sub: 'dora' };
  await customer.comeBack(await customer.begin());

  // A sign-in to another program, and its refresh.
  const wiki = await sceneOf(instance, application);
  const { refreshToken } = await wiki.flow('wanda@example.com');
  expect((await wiki.refresh(refreshToken)).status).toBe(200);

  // Codes for purposes other than sign-in, and the undo link.
  await prove(instance, ada);
  expect((await changeEmail(instance, ada, 'ada@new.example')).status).toBe(200);
  await instance.call('POST', '/api/account/deletion', { token: ada.token });
  for (const kind of ['archive', 'delete']) await manage('POST', `${path}/lifecycle/send`, { kind });
  await manage('POST', `${path}/beta-interests`, { emails: ['friend@example.com'] });
  await instance.call('POST', '/api/workspace/members', {
    token: instance.workspaceKey,
    body: { email: 'mia@example.com', role: 'member' },
  });

  // A person whose data is erased.
  later();
  const gone = await instance.signIn(clientId, 'gone@example.com');
  const lives = await instance.call('POST', '/api/account/profile/addresses', {
    token: gone.token,
    body: { kind: 'billing', recipient: FORGOTTEN, line1: '1 Main Street', city: 'Bern', country: 'CH' },
  });
  expect(lives.status).toBe(200);
  expect((await deleteAccount(instance, gone, 'gone@example.com')).status).toBe(200);

  await sent();
  for (const mail of taken) {
    if (mail.code) seen.set(`code ${seen.size}`, mail.code);
    for (const [secret] of `${mail.subject} ${mail.text} ${mail.html}`.matchAll(SECRET))
      seen.set(`${secret.split('_')[0]} ${seen.size}`, secret);
  }
  await instance.services.flushAll();
  return { instance, seen, taken };
}

/** Every column of every table by its name; blobs as they are and in their usual encodings. */
function columnsOf({ sqlite }: Instance): Map<string, string[]> {
  const columns = new Map<string, string[]>();
  for (const name of tableNames(sqlite))
    for (const row of sqlite.query(`SELECT * FROM "${name}"`).all() as Record<string, unknown>[])
      for (const [column, value] of Object.entries(row)) {
        const texts = columns.get(`${name}.${column}`) ?? [];
        columns.set(`${name}.${column}`, texts);
        if (typeof value === 'string') texts.push(value);
        if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString('latin1'));
      }
  return columns;
}

/** A code has six digits, which a longer number may contain. */
const holds = (text: string, secret: string) =>
  /^\d{6}$/.test(secret)
    ? new RegExp(`(?<![0-9A-Za-z.])${secret}(?![0-9A-Za-z])`).test(text)
    : spellings(secret).some((spelling) => text.includes(spelling));

/** The secret, its end without the visible prefix, and both in their usual encodings. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const end = secret.length > 40 ? [secret.slice(-24)] : [];
  return [secret, ...end, bytes.toString('hex'), bytes.toString('base64url'), encodeURIComponent(secret)];
}

describe('a secret that was handed out', () => {
  test('is found neither in a table, nor in the files after a stop, nor in the log', async () => {
    const { instance, seen, taken } = await playScene();
    const kinds = new Set([...seen.keys()].map((name) => name.split(' ')[0]));
    expect(
      [...Object.values(SECRET_PREFIXES), 'cookie', 'code', 'user', 'provider'].filter((kind) => !kinds.has(kind)),
    ).toEqual([]);
    expect(seen.size).toBeGreaterThan(60);
    expect(taken.some(({ code, subject }) => code !== null && subject.includes(code))).toBeTrue();
    const statuses = instance.sqlite.query('SELECT DISTINCT status FROM mails ORDER BY status').values().flat();
    expect(statuses).toEqual(['failed', 'sent']);

    const found: string[] = [];
    for (const [column, texts] of columnsOf(instance))
      for (const [name, secret] of seen)
        if (texts.some((text) => holds(text, secret))) found.push(`${name} in ${column}`);
    expect(found).toEqual([]);

    const log = instance.logLines.join('\n');
    expect([...seen].filter(([, secret]) => holds(log, secret)).map(([name]) => name)).toEqual([]);

    // The files of PostgreSQL are its operator's.
    if (ENGINE === 'postgres') return;
    const path = instance.sqlite.filename;
    await instance.db.close();
    instance.sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)');
    const bytes = ['', '-wal']
      .map((suffix) => (existsSync(path + suffix) ? readFileSync(path + suffix, 'latin1') : ''))
      .join('');
    expect(bytes.length).toBeGreaterThan(100_000);
    expect([...seen].filter(([, secret]) => holds(bytes, secret)).map(([name]) => name)).toEqual([]);
    // Deletion must erase data from the file, not only from the tables.
    expect(bytes.includes(FORGOTTEN)).toBeFalse();
    for (const { subject, text } of taken)
      expect([subject, bytes.includes(Buffer.from(text!).toString('latin1'))]).toEqual([subject, false]);
  }, 120_000);

  test('is not left in the row of a mail that expired before it was sent', async () => {
    const { transport } = mailServer();
    const instance = await createInstance({ mail: transport });
    await instance.db.write(SYSTEM_ACTOR, (unit) =>
      queueMail(unit, {
        to: 'ada@example.com',
        subject: '123456 is your code',
        text: '123456',
        html: '<p>123456</p>',
        code: '123456',
        expiresAt: instance.clock.now() - DAY,
        origin: { applicationId: null, workspaceId: null },
      }),
    );
    await instance.services.mail.runOnce();
    const row = instance.sqlite.query('SELECT status, subject, text, html, code FROM mails').get();
    expect(row).toEqual({ status: 'failed', subject: '', text: null, html: null, code: null });
  });
});
