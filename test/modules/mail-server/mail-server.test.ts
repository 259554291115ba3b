/** The mail server set in the console: kept once it accepts a test mail, in use at once, and never over the environment's. */
import { afterEach, describe, expect, test } from 'bun:test';
import { HOUR, MINUTE } from '@/core/clock.ts';
import { outboxQueue } from '@/mail/outbox.ts';
import { smtpTransport } from '@/mail/smtp.ts';
import { queueMail } from '@/store/mails.ts';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { eventually } from '../../support/eventually.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import { startMailServer, type MailServerOptions, type TestMailServer } from '../../support/smtp.ts';
import { tokenOf } from '../workspace/people.ts';

const PATH = '/api/workspace/mail/server';
const OWNER = 'owner@example.com';
const PASSWORD = 'p:@/%ß?# of mine';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startServer(options?: MailServerOptions): Promise<TestMailServer> {
  const server = await startMailServer(options);
  cleanups.push(() => server.close());
  return server;
}

async function setUp() {
  const [server, instance] = [await startServer(), await createInstance()];
  cleanups.push(() => instance.services.mail.close());
  return { server, instance, owner: await tokenOf(instance, OWNER) };
}

const inputOf = ({ port }: Pick<TestMailServer, 'port'>, changes: object = {}) => ({
  host: '127.0.0.1',
  port,
  tls: 'starttls',
  from: 'Acme <no-reply@acme.example>',
  ...changes,
});
const LOGIN = { username: 'ops@acme.example', password: PASSWORD };

const put = (instance: Instance, token: string | undefined, body: unknown) =>
  instance.call('PUT', PATH, { token, body });
const get = async (instance: Instance, token: string) => (await instance.call('GET', PATH, { token })).json.data;
const recipientsOf = ({ received }: TestMailServer) => received.flatMap(({ envelopeTo }) => envelopeTo);

async function queueTo(instance: Instance, to: string): Promise<void> {
  const mail = { to, subject: 's', text: 't', html: '<p>t</p>', code: null };
  const origin = { applicationId: null, workspaceId: null };
  const expiresAt = instance.clock.now() + 24 * HOUR;
  await instance.db.write(SYSTEM_ACTOR, (unit) => queueMail(unit, { ...mail, origin, expiresAt }));
}

const statusOf = ({ sqlite }: Instance, to: string) =>
  (sqlite.query('SELECT status FROM mails WHERE recipient = ? ORDER BY rowid DESC').get(to) as { status: string })
    .status;

const NONE = { source: null, isFixed: false, server: null, from: null, settings: null };

describe('a mail server is set', () => {
  test('after it has accepted a mail to the owner, and sends what is queued from then on', async () => {
    const { server, instance, owner } = await setUp();
    await queueTo(instance, 'before@example.com');
    await instance.services.mail.runOnce();
    expect(await get(instance, owner)).toEqual(NONE);
    const { status, json, text } = await put(instance, owner, inputOf(server, LOGIN));
    expect([status, json.data]).toEqual([
      200,
      {
        source: 'console',
        isFixed: false,
        server: `127.0.0.1:${server.port}`,
        from: 'Acme <no-reply@acme.example>',
        settings: {
          host: '127.0.0.1',
          port: server.port,
          tls: 'starttls',
          username: 'ops@acme.example',
          setAt: expect.any(String),
        },
      },
    ]);
    expect(recipientsOf(server)).toEqual([OWNER]);
    await queueTo(instance, 'after@example.com');
    await instance.services.mail.runOnce();
    expect([statusOf(instance, 'before@example.com'), statusOf(instance, 'after@example.com')]).toEqual([
      'captured',
      'sent',
    ]);
    expect(server.received.at(-1)).toMatchObject({
      envelopeFrom: 'no-reply@acme.example',
      envelopeTo: ['after@example.com'],
    });
    expect(text).not.toContain('of mine');
  });

  test('with its password sealed, and neither it nor the user name in answers, audit records or the log', async () => {
    const { server, instance, owner } = await setUp();
    await put(instance, owner, inputOf(server, LOGIN));
    const row = JSON.stringify(instance.sqlite.query('SELECT * FROM mail_servers').get());
    const records = instance.sqlite.query("SELECT detail FROM audit_records WHERE kind = 'mail.server_set'").all();
    const health = (await instance.call('GET', '/api/workspace/health', { token: owner })).text;
    expect(records).toEqual([{ detail: expect.stringContaining(`127.0.0.1:${server.port}`) }]);
    for (const text of [row, JSON.stringify(records), health, instance.logLines.join('\n')])
      expect(text).not.toContain('of mine');
  });

  test('and replaced: mails go through the new one alone', async () => {
    const { server, instance, owner } = await setUp();
    const next = await startServer();
    await put(instance, owner, inputOf(server));
    expect((await put(instance, owner, inputOf(next))).status).toBe(200);
    await queueTo(instance, 'ada@example.com');
    await instance.services.mail.runOnce();
    expect([recipientsOf(server), recipientsOf(next)]).toEqual([[OWNER], [OWNER, 'ada@example.com']]);
  });

  test('and in use by every instance without a restart, as is its removal', async () => {
    const { server, instance, owner } = await setUp();
    const sibling = await instance.sibling();
    cleanups.push(() => sibling.services.mail.close());
    await put(instance, owner, inputOf(server, LOGIN));
    await queueTo(sibling, 'ada@example.com');
    await eventually('it is sent', () => statusOf(instance, 'ada@example.com') === 'sent');
    await instance.call('DELETE', PATH, { token: owner });
    await queueTo(sibling, 'bob@example.com');
    await eventually('it is captured', () => statusOf(instance, 'bob@example.com') === 'captured');
    expect(recipientsOf(server)).toEqual([OWNER, 'ada@example.com']);
  });

  test('and retries at once the mails that the server before did not accept', async () => {
    const { server, instance, owner } = await setUp();
    const broken = await startServer();
    await put(instance, owner, inputOf(broken));
    broken.reply({ sender: '451 4.3.0 not now' });
    await queueTo(instance, 'ada@example.com');
    await instance.services.mail.runOnce();
    expect(statusOf(instance, 'ada@example.com')).toBe('queued');
    await put(instance, owner, inputOf(server));
    await instance.services.mail.runOnce();
    expect(statusOf(instance, 'ada@example.com')).toBe('sent');
  });

  test('and a mail is not captured where the outbox woke before it was set', async () => {
    const { instance } = await setUp();
    const { db } = instance;
    await instance.services.mail.close();
    await queueTo(instance, 'ada@example.com');
    await outboxQueue({ db, log: {} as never, onCapture: null, hasServer: async () => true }).runOnce();
    expect(statusOf(instance, 'ada@example.com')).toBe('queued');
  });
});

describe('nothing is kept', () => {
  const REPLIES: [string, Parameters<TestMailServer['reply']>[0], string][] = [
    ['login', { logIn: '535 5.7.8 authentication failed' }, '535 5.7.8 authentication failed'],
    ['sender', { sender: '553 5.1.8 not your address' }, '553 5.1.8 not your address'],
    ['recipient', { recipient: () => '550 5.7.1 relaying denied' }, '550 5.7.1 relaying denied'],
    ['message', { message: '554 5.6.0 spam' }, '554 5.6.0 spam'],
  ];

  test.each(REPLIES)('when the server refuses the %s, and the one before stays', async (_, replies, answer) => {
    const { server, instance, owner } = await setUp();
    const refusing = await startServer();
    await put(instance, owner, inputOf(server));
    refusing.reply(replies);
    const { status, json, text } = await put(instance, owner, inputOf(refusing, LOGIN));
    expect([status, json.error]).toEqual([400, 'invalid_request']);
    expect(json.message).toContain(`failed with “${answer}`);
    expect(text).not.toContain('of mine');
    expect((await get(instance, owner)).server).toBe(`127.0.0.1:${server.port}`);
  });

  test('when nothing listens there', async () => {
    const { server, instance, owner } = await setUp();
    await server.close();
    const { status, json } = await put(instance, owner, inputOf(server));
    expect([status, json.message]).toEqual([400, expect.stringContaining('refuses connections')]);
    expect(await get(instance, owner)).toEqual(NONE);
  });

  const INVALID: [string, object][] = [
    ['host', { host: 'smtp.example.com:25/x' }],
    ['host', { host: ':::' }],
    ['host', { host: 'a\r\nb' }],
    ['port', { port: 0 }],
    ['tls', { tls: 'none' }],
    ['username', { password: 'alone' }],
    ['password', { username: 'alone' }],
    ['password', { username: 'ada', password: 'a\u0000b' }],
    ['from', { from: 'Acme' }],
    ['from', { from: 'Acme\r\nBcc: eve@example.com <no-reply@acme.example>' }],
  ];

  test.each(INVALID)('for an invalid %s: %p', async (path, changes) => {
    const { server, instance, owner } = await setUp();
    const { status, json } = await put(instance, owner, inputOf(server, changes));
    expect([status, json.fields.map((field: { path: string }) => field.path)]).toEqual([400, [path]]);
    expect([await get(instance, owner), server.offered]).toEqual([NONE, []]);
  });
});

describe('the mail server is closed', () => {
  const CALLS = ['GET', 'PUT', 'DELETE'] as const;
  const call = (instance: Instance, method: (typeof CALLS)[number], token: string | undefined, path = PATH) =>
    instance.call(method, path, { token, ...(method === 'PUT' && { body: inputOf({ port: 1 }) }) });

  test.each(CALLS)('to keys, admins, owners of other workspaces and strangers: %s', async (method) => {
    const { instance, owner } = await setUp();
    const admin = await given.consoleMember(instance, 'admin@example.com', 'admin');
    const made = await instance.call('POST', '/api/workspaces', { token: owner, body: { name: 'Second' } });
    const second = made.json.data.id as string;
    const elsewhere = `${PATH}?workspaceId=${second}`;
    expect((await call(instance, method, undefined)).status).toBe(401);
    expect((await call(instance, method, instance.workspaceKey)).status).toBe(403);
    expect((await call(instance, method, admin.token)).status).toBe(403);
    expect((await call(instance, method, admin.token, elsewhere)).status).toBe(404);
    instance.sqlite.run('UPDATE workspace_members SET user_id = ? WHERE workspace_id = ?', [admin.userId, second]);
    instance.clock.advance(MINUTE);
    const { status, json } = await call(instance, method, admin.token, elsewhere);
    expect([status, json.message]).toEqual([403, expect.stringContaining('owners of the first workspace')]);
    expect(await get(instance, owner)).toEqual(NONE);
  });

  test('while the environment sets it, and says so', async () => {
    const server = await startServer();
    const instance = await createInstance({ mail: smtpTransport({ url: server.url, from: 'no-reply@acme.example' }) });
    cleanups.push(() => instance.services.mail.close());
    const owner = await tokenOf(instance, OWNER);
    expect(await get(instance, owner)).toEqual({
      source: 'environment',
      isFixed: true,
      server: `127.0.0.1:${server.port}`,
      from: 'no-reply@acme.example',
      settings: null,
    });
    for (const method of ['PUT', 'DELETE'] as const) {
      const { status, json } = await call(instance, method, owner);
      expect([status, json.message]).toEqual([409, expect.stringContaining('GATEHOUSE_SMTP_URL')]);
    }
  });

  test('while another is tested, with 429', async () => {
    const { server, instance, owner } = await setUp();
    const asked = Promise.withResolvers<void>();
    server.reply({
      recipient: () => {
        asked.resolve();
        return 'silence';
      },
    });
    const first = put(instance, owner, inputOf(server));
    await asked.promise;
    const { status, headers } = await put(instance, owner, inputOf(server));
    expect([status, headers.get('retry-after')]).toEqual([429, expect.any(String)]);
    await server.close();
    expect((await first).status).toBe(400);
  });
});

test('a mail server is removed once; mails stay in the outbox again, and sign-in pages say so', async () => {
  const { server, instance, owner } = await setUp();
  const isMailOff = async () => (await instance.call('GET', '/sign-in')).text.includes('"isMailOff":true');
  expect(await isMailOff()).toBe(true);
  await put(instance, owner, inputOf(server));
  expect(await isMailOff()).toBe(false);
  const remove = () => instance.call('DELETE', PATH, { token: owner });
  const { status, json } = await remove();
  expect([status, json.data, await isMailOff()]).toEqual([200, NONE, true]);
  expect((await remove()).status).toBe(404);
  expect(instance.auditKinds().filter((kind) => kind.startsWith('mail.server'))).toEqual([
    'mail.server_set',
    'mail.server_removed',
  ]);
});

test('an instance says truthfully where its mail server was set', async () => {
  const { server, instance, owner } = await setUp();
  const health = async () => (await instance.call('GET', '/api/workspace/health', { token: owner })).json.data;
  const isWarned = ({ warnings }: { warnings: { code: string }[] }) =>
    warnings.some(({ code }) => code === 'mail_goes_nowhere');
  expect(isWarned(await health())).toBe(true);
  await put(instance, owner, inputOf(server));
  const after = await health();
  expect([after.mail, isWarned(after)]).toEqual([
    {
      transport: 'smtp',
      source: 'console',
      server: `127.0.0.1:${server.port}`,
      from: 'Acme <no-reply@acme.example>',
    },
    false,
  ]);
});
