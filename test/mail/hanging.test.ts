/** Stalled recipients: a mail server that does not answer delays only its own mails. */
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { DAY } from '@/core/clock.ts';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { smtpTransport } from '@/mail/smtp.ts';
import { type MailPriority, queueMail } from '@/store/mails.ts';
import { eventually } from '../support/eventually.ts';
import { createInstance, type Instance } from '../support/instance.ts';
import { startMailServer, type TestMailServer } from '../support/smtp.ts';

setDefaultTimeout(120_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A server that never answers for addresses beginning with `hang`; `asked` lists the attempts in order. */
async function setUp(
  timeoutMs = 20_000,
): Promise<{ server: TestMailServer; instance: Instance; asked: string[]; clientId: string }> {
  const server = await startMailServer();
  cleanups.push(() => server.close());
  const asked: string[] = [];
  server.reply({ recipient: (address) => (address.startsWith('hang') ? (asked.push(address), 'silence') : null) });
  // Raises the limit on codes, so that only the mail queue's limits apply.
  const instance = await createInstance({
    mail: smtpTransport({ url: server.url, from: 'no-reply@acme.example', timeoutMs }),
    environment: { GATEHOUSE_LIMIT_CODES_PER_ADDRESS: '1000' },
  });
  cleanups.push(() => instance.services.mail.close());
  return { server, instance, asked, clientId: (await instance.createApplication()).clientId };
}

async function askForCode(instance: Instance, clientId: string, email: string): Promise<void> {
  const { status } = await instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId } });
  expect(status).toBe(200);
}

const arrival = (server: TestMailServer, email: string) =>
  eventually(`a code arrives at ${email}`, () => server.received.some(({ envelopeTo }) => envelopeTo[0] === email));

/** @param workspaceId sender of the mails that stall. */
function queue(
  { db, clock }: Instance,
  lane: MailPriority,
  recipients: readonly string[],
  workspaceId: string | null = null,
): Promise<void> {
  const mail = {
    subject: 'Hello',
    text: 'Hello',
    html: '<p>Hello</p>',
    code: null,
    expiresAt: clock.now() + DAY,
    lane,
  };
  return db.write(SYSTEM_ACTOR, async (unit) => {
    for (const to of recipients) {
      const origin = { applicationId: null, workspaceId: to.startsWith('hang') ? workspaceId : null };
      await queueMail(unit, { to, ...mail, origin });
    }
  });
}

const many = (count: number, address: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => address(index));

test('two hundred codes to a stalled domain delay no code to another domain', async () => {
  const { server, instance, asked, clientId } = await setUp();
  for (const email of many(200, (index) => `hang${index}@slow.example`)) await askForCode(instance, clientId, email);
  await eventually('some of them hang', () => asked.length >= 6);
  await askForCode(instance, clientId, 'ada@example.com');
  await arrival(server, 'ada@example.com');
  // No attempt at the stalled domain has ended, and no further attempt has begun.
  expect(asked).toHaveLength(6);
});

test('stalled notices and bulk mails, each at its own domain, delay no code', async () => {
  const { server, instance, asked, clientId } = await setUp();
  await queue(
    instance,
    'bulk',
    many(60, (index) => `hang${index}@bulk${index}.example`),
  );
  await queue(
    instance,
    'notice',
    many(60, (index) => `hang${index}@notice${index}.example`),
  );
  await eventually('they hang', () => asked.length >= 9);
  await askForCode(instance, clientId, 'ada@example.com');
  await arrival(server, 'ada@example.com');
});

test('one workspace’s stalled codes, each at its own domain, delay no code of another workspace', async () => {
  const { server, instance, asked, clientId } = await setUp();
  const stalled = many(60, (index) => `hang${index}@slow${index}.example`);
  // The last is of the console, which belongs to no workspace. In one change, so that none stalls before it is queued.
  await queue(instance, 'code', [...stalled, 'ada@example.com'], instance.workspaceId);
  await eventually('they hang', () => asked.length >= 9);
  await arrival(server, 'ada@example.com');
  expect(asked).toHaveLength(9);
  // The workspace's own codes wait until its earlier mails count as stalled and free their slots.
  await askForCode(instance, clientId, 'grace@example.com');
  await eventually('more of them hang', () => asked.length > 9);
});

test('the step and duration of a timeout are recorded', async () => {
  const { server, instance, clientId } = await setUp(1000);
  await askForCode(instance, clientId, 'hang@slow.example');
  await instance.services.mail.runOnce();
  expect(instance.sqlite.query('SELECT status, last_error AS lastError FROM mails').get()).toEqual({
    status: 'queued',
    lastError: `the answer to RCPT TO did not come from 127.0.0.1:${server.port} within 1 s`,
  });
});
