/** Mail by SMTP: what a mail server receives, and how a refused mail is handled. */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { HOUR, MINUTE, SECOND } from '../../src/core/clock.ts';
import { smtpTransport } from '../../src/mail/smtp.ts';
import {
  emptyFolder,
  eventually,
  freePort,
  readDatabase,
  sendCode,
  startServer,
  verifyCode,
} from '../support/binary.ts';
import { createInstance, type Instance } from '../support/instance.ts';
import { startMailServer, type TestMailServer } from '../support/smtp.ts';

setDefaultTimeout(120_000);

const FROM = '"Acme, Inc." <no-reply@acme.example>';
const EMAIL = 'ada@example.com';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function mailServer(port?: number): Promise<TestMailServer> {
  const server = await startMailServer(port === undefined ? {} : { port });
  cleanups.push(() => server.close());
  return server;
}

async function instanceSendingTo(url: string): Promise<Instance> {
  const instance = await createInstance({ mail: smtpTransport({ url, from: FROM }) });
  cleanups.push(() => instance.services.mail.close());
  return instance;
}

const send = (instance: Instance, clientId: string, email = EMAIL) =>
  instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId } });

const verify = (instance: Instance, challengeId: string, code: string) =>
  instance.call('POST', '/api/v1/auth/otp/verify', { body: { challengeId, code } });

const storedMails = (instance: Instance) =>
  instance.sqlite
    .query('SELECT status, attempts, text, html, code, last_error AS lastError FROM mails ORDER BY rowid')
    .all() as { status: string; attempts: number; text: unknown; html: unknown; code: unknown; lastError: string }[];

describe('a sign-in mail', () => {
  test('reaches the mail server in plain text and HTML, and its code signs in', async () => {
    const server = await mailServer();
    const instance = await instanceSendingTo(server.url);
    const { clientId } = await instance.createApplication({ name: 'Café <Ünique> & Söhne' });
    const sent = await send(instance, clientId);
    await instance.services.mail.runOnce();

    expect(server.received).toHaveLength(1);
    const [mail] = server.received;
    const code = /#(\d{6})$/.exec(mail!.text.trimEnd())![1]!;
    expect(mail).toMatchObject({ envelopeFrom: 'no-reply@acme.example', envelopeTo: [EMAIL] });
    expect(mail!.headers).toMatchObject({
      from: 'Café <Ünique> & Söhne <no-reply@acme.example>',
      to: EMAIL,
      subject: `${code} is your Café <Ünique> & Söhne sign-in code`,
      'auto-submitted': 'auto-generated',
      'message-id': expect.stringMatching(/^<mail_\w+@acme\.example>$/),
      'content-type': expect.stringContaining('multipart/alternative'),
    });
    expect(mail!.text.trimEnd().split('\n').at(-1)).toBe(`@localhost #${code}`);
    expect(mail!.html).toContain(code);
    expect(mail!.html).toContain('Café &lt;Ünique> &amp; Söhne');
    expect(mail!.html).not.toMatch(/<(?:img|script|link|iframe)\b|https?:\/\//);

    expect((await verify(instance, sent.json.data.challengeId, code)).status).toBe(200);
  });

  test('is removed from the database once it is sent, body and code', async () => {
    const server = await mailServer();
    const instance = await instanceSendingTo(server.url);
    await send(instance, (await instance.createApplication()).clientId);
    await instance.services.mail.runOnce();
    expect(storedMails(instance)).toEqual([
      { status: 'sent', attempts: 1, text: null, html: null, code: null, lastError: null as never },
    ]);
  });

  test('gets no extra header or recipient from the name of an application', async () => {
    const server = await mailServer();
    const instance = await instanceSendingTo(server.url);
    const { clientId } = await instance.createApplication({ name: 'Shop\r\nBcc: eve@evil.example\r\n\r\nHello' });
    await send(instance, clientId);
    await instance.services.mail.runOnce();
    expect(server.received[0]!.envelopeTo).toEqual([EMAIL]);
    expect(server.received[0]!.headers).not.toHaveProperty('bcc');
  });

  test('is sent by the compiled binary, which logs neither code nor address', async () => {
    const server = await mailServer();
    const folder = emptyFolder();
    const env = {
      GATEHOUSE_OWNER_EMAIL: EMAIL,
      GATEHOUSE_SMTP_URL: server.url,
      GATEHOUSE_MAIL_FROM: FROM,
      GATEHOUSE_LOG_LEVEL: 'debug',
    };
    const binary = await startServer(folder.path, env);
    const challengeId = await sendCode(binary, EMAIL);
    const mail = await eventually('the mail arrives', () => server.received[0]);
    const code = /#(\d{6})$/.exec(mail.text.trimEnd())![1]!;
    expect(mail.headers['from']).toBe(FROM);
    expect((await verifyCode(binary, challengeId, code)).status).toBe(200);
    const isForgotten = () =>
      readDatabase(folder.path, (sqlite) =>
        sqlite.query("SELECT 1 FROM mails WHERE status = 'sent' AND coalesce(text, html, code) IS NULL").get(),
      );
    await eventually('the database forgets the mail', isForgotten);
    expect(await binary.stop()).toBe(0);
    const log = (await binary.stdout.whole) + (await binary.stderr.whole);
    expect(log).toContain('/api/v1/auth/otp/verify');
    for (const secret of [code, EMAIL]) expect(log).not.toContain(secret);
    folder.remove();
  });
});

describe('a refused mail', () => {
  test('a mail with a temporary error (451) is sent again as the same message until it is accepted', async () => {
    const server = await mailServer();
    const instance = await instanceSendingTo(server.url);
    server.refuseWith(451);
    const sent = await send(instance, (await instance.createApplication()).clientId);
    const code = instance.codeFor(EMAIL);
    await instance.services.mail.runOnce();
    expect(server.offered).toHaveLength(1);
    expect(storedMails(instance)[0]).toMatchObject({ status: 'queued', attempts: 1, code });
    expect(storedMails(instance)[0]!.lastError).toContain('451');

    await instance.services.mail.runOnce();
    expect(server.offered).toHaveLength(1);

    instance.clock.advance(5 * SECOND);
    await instance.services.mail.runOnce();
    expect(server.offered).toHaveLength(2);

    server.refuseWith(null);
    instance.clock.advance(10 * SECOND);
    await instance.services.mail.runOnce();
    expect(server.received).toHaveLength(1);
    expect(new Set(server.offered.map(({ headers }) => headers['message-id'])).size).toBe(1);
    expect(storedMails(instance)[0]).toMatchObject({ status: 'sent', attempts: 3, text: null, code: null });
    expect((await verify(instance, sent.json.data.challengeId, code)).status).toBe(200);

    instance.clock.advance(HOUR);
    await instance.services.mail.runOnce();
    expect(server.offered).toHaveLength(3);
  });

  test('a mail with a permanent error (550) is not sent again, and its code is deleted', async () => {
    const server = await mailServer();
    const instance = await instanceSendingTo(server.url);
    server.refuseWith(550);
    await send(instance, (await instance.createApplication()).clientId);
    await instance.services.mail.runOnce();
    const failed = { status: 'failed', attempts: 1, text: null, html: null, code: null };
    expect(storedMails(instance)[0]).toMatchObject(failed);
    expect(instance.logLines.join('')).toContain('rejected a mail permanently');

    server.refuseWith(null);
    instance.clock.advance(HOUR);
    await instance.services.mail.runOnce();
    expect(server.offered).toHaveLength(1);
    expect(storedMails(instance)[0]).toMatchObject(failed);
  });

  test('is abandoned once its code has expired', async () => {
    const server = await mailServer();
    const instance = await instanceSendingTo(server.url);
    server.refuseWith(451);
    await send(instance, (await instance.createApplication()).clientId);
    await instance.services.mail.runOnce();
    server.refuseWith(null);
    instance.clock.advance(11 * MINUTE);
    await instance.services.mail.runOnce();
    expect(server.offered).toHaveLength(1);
    expect(storedMails(instance)[0]).toMatchObject({ status: 'failed', text: null, code: null });
  });

  test('a mail without a reachable server stays queued, and is delivered once the server is back', async () => {
    const port = freePort();
    const instance = await instanceSendingTo(`smtp://127.0.0.1:${port}`);
    const sent = await send(instance, (await instance.createApplication()).clientId);
    expect(sent.status).toBe(200);
    await instance.services.mail.runOnce();
    expect(storedMails(instance)[0]).toMatchObject({ status: 'queued', attempts: 1 });

    const server = await mailServer(port);
    instance.clock.advance(5 * SECOND);
    await instance.services.mail.runOnce();
    expect(server.received).toHaveLength(1);
    expect(storedMails(instance)[0]).toMatchObject({ status: 'sent', attempts: 2 });
  });

  test('leaves neither address nor code in the log', async () => {
    const server = await mailServer();
    const instance = await instanceSendingTo(server.url);
    const { clientId } = await instance.createApplication();
    const codes: string[] = [];
    for (const [refusal, email] of [
      [451, 'temporary@example.com'],
      [550, 'permanent@example.com'],
    ] as const) {
      server.refuseWith(refusal);
      await send(instance, clientId, email);
      codes.push(instance.codeFor(email));
      await instance.services.mail.runOnce();
    }
    const log = instance.logLines.join('');
    expect(log).toContain('could not be sent yet');
    for (const secret of [...codes, '@example.com']) expect(log).not.toContain(secret);
  });
});

describe('a mail server that never greets', () => {
  test('delays no request: each is answered while its mail still waits', async () => {
    const sockets = new Set<Bun.Socket>();
    const silent = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { open: (socket) => void sockets.add(socket), data() {} },
    });
    const instance = await instanceSendingTo(`smtp://127.0.0.1:${silent.port}`);
    const { clientId } = await instance.createApplication();
    const people = Array.from({ length: 10 }, (_, index) => `person${index}@example.com`);
    const before = performance.now();
    for (const email of people) expect((await send(instance, clientId, email)).status).toBe(200);
    // Far below the greeting timeout of 20 s.
    expect(performance.now() - before).toBeLessThan(5000);
    await eventually('the mail server is connected to', () => sockets.size > 0);
    expect(storedMails(instance).map(({ status }) => status)).toEqual(people.map(() => 'queued'));
    for (const socket of sockets) socket.terminate();
    silent.stop(true);
  });
});
