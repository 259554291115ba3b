/** Rejected mails: the server's own words in log and outbox, and an audit record for the application. */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { MINUTE, SECOND } from '@/core/clock.ts';
import { smtpTransport } from '@/mail/smtp.ts';
import { betaOf } from '../modules/beta/beta.ts';
import { AUTHORITY, SELF_SIGNED_CERT, SELF_SIGNED_KEY, SHOP_CERT, SHOP_KEY } from '../outbound/certificates.ts';
import { emptyFolder, eventually, freePort, readDatabase, sendCode, startServer } from '../support/binary.ts';
import { createInstance, type Instance } from '../support/instance.ts';
import { type MailServerOptions, startMailServer, type TestMailServer } from '../support/smtp.ts';

setDefaultTimeout(120_000);

const EMAIL = 'ada@example.com';
const FROM = 'no-reply@acme.example';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function mailServer(options?: MailServerOptions): Promise<TestMailServer> {
  const server = await startMailServer(options);
  cleanups.push(() => server.close());
  return server;
}

async function instanceSendingTo(url: string): Promise<Instance> {
  const instance = await createInstance({ mail: smtpTransport({ url, from: FROM }) });
  cleanups.push(() => instance.services.mail.close());
  return instance;
}

/** Requests a code and attempts its mail once. */
async function offerCode(instance: Instance, email = EMAIL): Promise<{ applicationId: string; code: string }> {
  const { id: applicationId, clientId } = await instance.createApplication();
  await instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId } });
  const code = instance.codeFor(email);
  await instance.services.mail.runOnce();
  return { applicationId, code };
}

const stored = ({ sqlite }: Instance) =>
  sqlite.query('SELECT status, attempts, last_error AS lastError FROM mails').get() as {
    status: string;
    attempts: number;
    lastError: string;
  };

const logOf = ({ logLines }: Instance) => logLines.join('');

async function activityOf(instance: Instance, applicationId: string, query = '') {
  const path = `/api/applications/${applicationId}/activity/list?family=mail${query}`;
  const { json, status } = await instance.call('GET', path, { token: instance.workspaceKey });
  expect(status).toBe(200);
  return json.data.items;
}

describe('the mail server’s answer', () => {
  test.each([
    ['550 5.1.1 mailbox unknown', 'failed', '550 5.1.1 mailbox unknown'],
    ['550 no such user', 'failed', '550 no such user'],
    ['450 4.2.1 <ada@example.com> has too much mail', 'queued', '450 4.2.1 <[redacted]> has too much mail'],
    ['550 5.1.1 ada is nobody of adamant', 'failed', '550 5.1.1 [redacted] is nobody of adamant'],
  ])('is in log and outbox without the address: %s', async (reply, status, lastError) => {
    const server = await mailServer();
    server.reply({ recipient: () => reply });
    const instance = await instanceSendingTo(server.url);
    await offerCode(instance);
    expect(stored(instance)).toEqual({ status, attempts: 1, lastError });
    expect(logOf(instance)).toContain(`"reason":"${lastError}"`);
    expect(logOf(instance)).not.toContain(EMAIL);
  });

  test('is stored without the code and within bounds, however much of the message it repeats', async () => {
    const server = await mailServer();
    const instance = await instanceSendingTo(server.url);
    const { clientId } = await instance.createApplication();
    await instance.call('POST', '/api/v1/auth/otp/send', { body: { email: EMAIL, clientId } });
    const code = instance.codeFor(EMAIL);
    server.reply({
      message: `554 5.7.1 spam: ${code}, ${[...code].join(' ')} to ${EMAIL}\u0007 ${'blah '.repeat(500)}`,
    });
    await instance.services.mail.runOnce();
    const { status, lastError } = stored(instance);
    expect(status).toBe('failed');
    expect(lastError).toStartWith('554 5.7.1 spam: [redacted], [redacted] to [redacted] blah');
    expect(lastError.length).toBeLessThanOrEqual(200);
    expect(logOf(instance)).not.toContain(code);
  });

  test('an answer to a login is stored without user name and password, and the mail is retried', async () => {
    const server = await mailServer();
    server.reply({ logIn: `535 5.7.8 hunter2 is not of postmaster, nor ${btoa('hunter2')}` });
    const instance = await instanceSendingTo(server.url.replace('//', '//postmaster:hunter2@'));
    await offerCode(instance);
    expect(stored(instance)).toEqual({
      status: 'queued',
      attempts: 1,
      lastError: '535 5.7.8 [redacted] is not of [redacted], nor [redacted] (in answer to AUTH PLAIN)',
    });
    expect(logOf(instance)).not.toContain('hunter2');
  });
});

describe('a failing server', () => {
  test.each([
    ['its greeting', { greeting: '554 5.3.2 no service here' }, '554 5.3.2 no service here (as the greeting)'],
    ['the sender', { sender: '550 5.7.1 not from you' }, '550 5.7.1 not from you (in answer to MAIL FROM)'],
    ['a lack of log-in', { recipient: () => '530 5.7.0 log in' }, '530 5.7.0 log in (in answer to RCPT TO)'],
  ])('a server that refuses with %s causes a retry, and the mail arrives', async (_, replies, lastError) => {
    const server = await mailServer();
    server.reply(replies);
    const instance = await instanceSendingTo(server.url);
    const { applicationId } = await offerCode(instance);
    expect(stored(instance)).toEqual({ status: 'queued', attempts: 1, lastError });
    expect(logOf(instance)).toContain('could not be sent yet');
    await instance.services.mail.runOnce();
    expect(stored(instance).attempts).toBe(1);

    server.reply({});
    instance.clock.advance(5 * SECOND);
    await instance.services.mail.runOnce();
    expect(server.received).toHaveLength(1);
    expect(stored(instance)).toMatchObject({ status: 'sent', attempts: 2 });
    expect(await activityOf(instance, applicationId)).toEqual([]);
  });

  test('a server that refuses EHLO and HELO causes a retry', async () => {
    const server = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        open: (socket) => void socket.write('220 ready\r\n'),
        data: (socket) => void socket.write('550 5.7.1 not you\r\n'),
      },
    });
    cleanups.push(() => server.stop(true));
    const instance = await instanceSendingTo(`smtp://127.0.0.1:${server.port}`);
    await offerCode(instance);
    expect(stored(instance)).toMatchObject({ status: 'queued', lastError: '550 5.7.1 not you (in answer to HELO)' });
  });

  test('an unreachable server is named', async () => {
    const port = freePort();
    const instance = await instanceSendingTo(`smtp://127.0.0.1:${port}`);
    await offerCode(instance);
    expect(stored(instance)).toMatchObject({ status: 'queued', lastError: `127.0.0.1:${port} refuses connections` });
  });

  test('a server that disconnects is reported with the step it reached', async () => {
    const server = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        open: (socket) => void socket.write('220 ready\r\n'),
        data: (socket, data) => void (/^RCPT/.test(data.toString()) ? socket.end() : socket.write('250 OK\r\n')),
      },
    });
    cleanups.push(() => server.stop(true));
    const instance = await instanceSendingTo(`smtp://127.0.0.1:${server.port}`);
    await offerCode(instance);
    const lastError = `127.0.0.1:${server.port} closed the connection before the answer to RCPT TO came`;
    expect(stored(instance)).toMatchObject({ status: 'queued', lastError });
  });

  test.each([true, false])('an untrusted certificate is reported with its fault and host (%p)', async (isImplicit) => {
    const server = await mailServer({ tls: { cert: SELF_SIGNED_CERT, key: SELF_SIGNED_KEY, isImplicit } });
    const instance = await instanceSendingTo(server.url);
    await offerCode(instance);
    const lastError = 'the certificate of 127.0.0.1 is not trusted: it is self-signed';
    expect(stored(instance)).toMatchObject({ status: 'queued', lastError });
    expect(logOf(instance)).toContain(`"reason":"${lastError}"`);
  });

  test('a certificate for another host is reported with that name by the binary', async () => {
    const server = await mailServer({ tls: { cert: SHOP_CERT, key: SHOP_KEY, isImplicit: true } });
    const folder = emptyFolder();
    cleanups.push(() => folder.remove());
    const authority = `${folder.path}.pem`;
    await Bun.write(authority, AUTHORITY);
    cleanups.push(() => Bun.file(authority).delete());
    const binary = await startServer(folder.path, {
      GATEHOUSE_OWNER_EMAIL: EMAIL,
      GATEHOUSE_SMTP_URL: `smtps://localhost:${server.port}`,
      NODE_EXTRA_CA_CERTS: authority,
    });
    await sendCode(binary, EMAIL);
    const lastError = await eventually('the mail was tried', () =>
      readDatabase(
        folder.path,
        (sqlite) =>
          (sqlite.query('SELECT last_error AS lastError FROM mails').get() as { lastError: string | null }).lastError,
      ),
    );
    expect(lastError).toBe('the certificate of localhost is not trusted: it is for another host (DNS:shop.test)');
    expect(await binary.stop()).toBe(0);
  });

  test('a server without TLS is reported if TLS is required', async () => {
    const { port } = await mailServer();
    const instance = await instanceSendingTo(`smtps://127.0.0.1:${port}`);
    await offerCode(instance);
    const lastError = `127.0.0.1:${port} does not answer in TLS; is it smtp://, or another port?`;
    expect(stored(instance)).toMatchObject({ status: 'queued', lastError });
  });
});

describe('an undelivered mail', () => {
  test('is recorded in its application’s activity, with the server’s words', async () => {
    const server = await mailServer();
    server.reply({ recipient: () => '550 5.1.1 mailbox unknown' });
    const instance = await instanceSendingTo(server.url);
    const { applicationId, code } = await offerCode(instance);
    const { id: another } = await instance.createApplication({ name: 'Another' });

    const items = await activityOf(instance, applicationId);
    expect(items).toEqual([
      expect.objectContaining({
        kind: 'mail.refused',
        ok: false,
        email: EMAIL,
        actorType: 'system',
        targetId: expect.stringMatching(/^mail_/),
        detail: { reason: '550 5.1.1 mailbox unknown', attempts: 1, sender: 'Shop' },
      }),
    ]);
    expect(JSON.stringify(items)).not.toContain(code);
    expect(await activityOf(instance, applicationId, '&status=error&q=ADA@')).toEqual(items);
    expect(await activityOf(instance, another)).toEqual([]);
  });

  test('refused for plain text is reported in log and outbox with advice, until it expires', async () => {
    const server = await mailServer();
    const instance = await instanceSendingTo(`smtp://0.0.0.0:${server.port}`);
    const { applicationId } = await offerCode(instance);
    const reason =
      '0.0.0.0 takes no STARTTLS (500 Error: command not recognized), and mail is not sent to another host in plain text; ' +
      'use TLS from the start (smtps://), or allow plain text (tls=optional)';
    expect(stored(instance)).toEqual({ status: 'queued', attempts: 1, lastError: reason });
    expect(logOf(instance)).toContain(`"reason":"${reason}"`);
    instance.clock.advance(5 * SECOND);
    await instance.services.mail.runOnce();
    expect(stored(instance)).toMatchObject({ status: 'queued', attempts: 2 });

    instance.clock.advance(11 * MINUTE);
    await instance.services.mail.runOnce();
    const lastError = `expired before it could be sent; the last time: ${reason}`;
    expect(stored(instance)).toMatchObject({ status: 'failed', lastError });
    expect(await activityOf(instance, applicationId)).toMatchObject([
      { kind: 'mail.expired', detail: { reason: lastError } },
    ]);
    expect(server.offered).toEqual([]);
  });

  test('an undelivered launch mail is recorded for that application and no other', async () => {
    const server = await mailServer();
    server.reply({ recipient: () => '550 5.1.1 mailbox unknown' });
    const instance = await instanceSendingTo(server.url);
    const [own, other] = [await instance.createApplication(), await instance.createApplication({ name: 'Other' })];
    const beta = betaOf(instance, own);
    await beta.setGate('private_beta');
    await beta.ask(EMAIL, 'notify');
    await betaOf(instance, other).setGate('private_beta');
    await betaOf(instance, other).ask('grace@example.com', 'notify');
    await beta.setGate('public');
    await instance.services.tasks.runOnce();
    await instance.services.mail.runOnce();
    expect(await activityOf(instance, own.id)).toMatchObject([{ kind: 'mail.refused', email: EMAIL }]);
    expect(await activityOf(instance, other.id)).toEqual([]);
  });
});

test('the binary records a refusal in its own words and logs no address', async () => {
  const server = await mailServer();
  server.reply({ recipient: () => `550 5.1.1 <${EMAIL}> mailbox unknown` });
  const folder = emptyFolder();
  cleanups.push(() => folder.remove());
  const binary = await startServer(folder.path, {
    GATEHOUSE_OWNER_EMAIL: EMAIL,
    GATEHOUSE_SMTP_URL: server.url,
    GATEHOUSE_MAIL_FROM: FROM,
  });
  await sendCode(binary, EMAIL);
  const record = await eventually('the refusal is on record', () =>
    readDatabase(folder.path, (sqlite) =>
      sqlite.query("SELECT ok, email, detail FROM audit_records WHERE kind = 'mail.refused'").get(),
    ),
  );
  const reason = '550 5.1.1 <[redacted]> mailbox unknown';
  expect(record).toEqual({ ok: 0, email: EMAIL, detail: JSON.stringify({ reason, attempts: 1 }) });
  expect(await binary.stop()).toBe(0);
  const log = (await binary.stdout.whole) + (await binary.stderr.whole);
  expect(log).toContain(`"reason":"${reason}"`);
  expect(log).not.toContain(EMAIL);
});
