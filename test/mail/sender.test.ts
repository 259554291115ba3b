/** Mails of an application come from its name, and answers go to its support; the server's own keep the configured name. */
import { afterEach, describe, expect, test } from 'bun:test';
import { mailboxOf, senderOf } from '@/mail/sender.ts';
import { PRODUCT } from '@/mail/letter.tsx';
import { smtpTransport } from '@/mail/smtp.ts';
import { createInstance } from '../support/instance.ts';
import { type ReceivedMail, startMailServer } from '../support/smtp.ts';

const ADA = 'ada@example.com';
const FROM = 'Acme ID <no-reply@acme.example>';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Asks for a code of an application with this name. @returns the mail as the server received it. */
async function codeMailOf(name: string, supportEmail: string | null) {
  const server = await startMailServer();
  const instance = await createInstance({ mail: smtpTransport({ url: server.url, from: FROM }) });
  cleanups.push(() => server.close());
  cleanups.push(() => instance.services.mail.close());
  const { clientId, id } = await instance.createApplication({ name });
  instance.sqlite.query('UPDATE applications SET support_email = ? WHERE id = ?').run(supportEmail, id);
  await instance.call('POST', '/api/v1/auth/otp/send', { body: { email: ADA, clientId } });
  await instance.services.mail.runOnce();
  return { instance, server, applicationId: id, mail: server.received[0] as ReceivedMail };
}

describe('the sender of a mail', () => {
  test.each(['Harbour', 'Ντόναχαφεν', 'Müller & Söhne', 'Smith, "Jones" <& Co>', 'a@b.example'])(
    'is the application’s name at the configured address: %s',
    async (name) => {
      const { mail } = await codeMailOf(name, null);
      const shown = mail.headers['from']?.replace(/^"(.*)" </, '$1 <').replace(/\\(.)/g, '$1');
      expect(shown).toBe(`${name} <no-reply@acme.example>`);
      expect(mail.envelopeFrom).toBe('no-reply@acme.example');
      expect(mail.headers).not.toHaveProperty('reply-to');
    },
  );

  test('has the application’s support as Reply-To', async () => {
    const { mail } = await codeMailOf('Harbour', 'help@harbour.example');
    expect(mail.headers['reply-to']).toBe('help@harbour.example');
  });

  test('is the configured one for the console and for mails of the server', async () => {
    const { instance, server } = await codeMailOf('Harbour', 'help@harbour.example');
    await instance.call('POST', '/api/v1/auth/otp/send', { body: { email: 'owner@example.com' } });
    await instance.services.mail.runOnce();
    expect(server.received.map(({ headers }) => headers['from'])).toEqual([
      'Harbour <no-reply@acme.example>',
      'Acme ID <no-reply@acme.example>',
    ]);
    expect(server.received[1]?.headers).not.toHaveProperty('reply-to');
  });

  test('stays the same for a retry after the application was renamed', async () => {
    const { instance, server, applicationId } = await codeMailOf('Harbour', null);
    const { clientId } = instance.sqlite
      .query('SELECT client_id AS "clientId" FROM applications WHERE id = ?')
      .get(applicationId) as { clientId: string };
    server.refuseWith(450);
    await instance.call('POST', '/api/v1/auth/otp/send', { body: { email: 'bob@example.com', clientId } });
    await instance.services.mail.runOnce();
    await instance.call('PATCH', `/api/applications/${applicationId}`, {
      token: instance.workspaceKey,
      body: { name: 'Seaport' },
    });
    server.refuseWith(null);
    instance.clock.advance(60_000);
    await instance.services.mail.runOnce();
    expect(server.received.at(-1)?.headers).toMatchObject({
      to: 'bob@example.com',
      from: 'Harbour <no-reply@acme.example>',
    });
  });

  test('is on record with a mail that could not be delivered', async () => {
    const { instance, server, applicationId } = await codeMailOf('Harbour', null);
    server.refuseWith(550);
    const { clientId } = instance.sqlite
      .query('SELECT client_id AS "clientId" FROM applications WHERE id = ?')
      .get(applicationId) as { clientId: string };
    await instance.call('POST', '/api/v1/auth/otp/send', { body: { email: 'bob@example.com', clientId } });
    await instance.services.mail.runOnce();
    const path = `/api/applications/${applicationId}/activity/list?family=mail`;
    const { json } = await instance.call('GET', path, { token: instance.workspaceKey });
    expect(json.data.items[0].detail).toMatchObject({ sender: 'Harbour' });
  });

  test('is shown in the outbox', async () => {
    const { instance } = await codeMailOf('Harbour', 'help@harbour.example');
    const row = instance.sqlite.query('SELECT sender_name, reply_to FROM mails').get();
    expect(row).toEqual({ sender_name: 'Harbour', reply_to: 'help@harbour.example' });
  });
});

test.each([
  ['an override of the reading order', 'Harbour\u202eknab', 'Harbourknab'],
  ['a line break', 'Harbour\r\nBcc: eve@evil.example', 'Harbour Bcc: eve@evil.example'],
  ['an encoded word', '=?utf-8?q?Bank?=', '= ?utf-8?q?Bank?='],
])('the name of a sender has lost %s', (_, name, shown) => {
  expect(senderOf({ ...PRODUCT, workspaceId: 'ws_1', name })?.name).toBe(shown);
});

test('an invalid support address is no Reply-To', () => {
  const sender = { ...PRODUCT, workspaceId: 'ws_1', supportEmail: 'help@a.example, eve@evil.example' };
  expect(senderOf(sender)?.replyTo).toBeNull();
});

test.each([
  ['Acme <no-reply@acme.example>', { name: 'Acme', address: 'no-reply@acme.example' }],
  ['"Acme, Inc." <no-reply@acme.example>', { name: 'Acme, Inc.', address: 'no-reply@acme.example' }],
  ['no-reply@acme.example', { name: '', address: 'no-reply@acme.example' }],
  ['<no-reply@acme.example>', { name: '', address: 'no-reply@acme.example' }],
])('the configured sender %s is parsed', (from, mailbox) => {
  expect(mailboxOf(from)).toEqual(mailbox);
});
