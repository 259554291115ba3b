/** Test mails: sent at once to members only, with the server's answer, and recorded. */
import { afterEach, describe, expect, test } from 'bun:test';
import { smtpTransport } from '@/mail/smtp.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import { startMailServer, type TestMailServer } from '../../support/smtp.ts';
import { setUpPeople } from '../workspace/people.ts';

const PATH = '/api/workspace/mail/test';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const send = (instance: Instance, token: string, body?: object) => instance.call('POST', PATH, { token, body });

async function withServer(): Promise<{ server: TestMailServer; instance: Instance }> {
  const server = await startMailServer();
  const instance = await createInstance({ mail: smtpTransport({ url: server.url, from: 'no-reply@acme.example' }) });
  cleanups.push(
    () => server.close(),
    () => instance.services.mail.close(),
  );
  return { server, instance };
}

const stored = ({ sqlite }: Instance) =>
  sqlite
    .query('SELECT recipient, status, attempts, last_error AS lastError, subject FROM mails ORDER BY rowid DESC')
    .get();

describe('a test mail with a mail server', () => {
  test('returns the server’s own acceptance', async () => {
    const { server, instance } = await withServer();
    const { token } = await given.consoleMember(instance, 'admin@example.com', 'admin');
    const { status, json } = await send(instance, token);
    expect([status, json.data]).toEqual([
      200,
      {
        transport: 'smtp',
        to: 'admin@example.com',
        outcome: 'accepted',
        answer: expect.stringMatching(/^250 /),
        durationMs: expect.any(Number),
      },
    ]);
    // The mail with the sign-in code may arrive after it.
    const arrived = server.received.filter(({ envelopeTo }) => envelopeTo.includes('admin@example.com'));
    expect(arrived.map(({ text }) => text)).toContainEqual(expect.stringContaining('localhost:8080'));
    expect(stored(instance)).toEqual({
      recipient: 'admin@example.com',
      status: 'sent',
      attempts: 1,
      lastError: null,
      subject: '',
    });
    expect(instance.auditKinds()).toContain('mail.tested');
  });

  test.each([
    ['550 5.1.1 mailbox unknown', '550 5.1.1 mailbox unknown'],
    ['451 4.7.1 try again later', '451 4.7.1 try again later'],
  ])('returns a refusal with 200 and is not retried: %s', async (reply, answer) => {
    const { server, instance } = await withServer();
    server.reply({ recipient: () => reply });
    const { status, json } = await send(instance, instance.workspaceKey, { to: 'owner@example.com' });
    expect([status, json.data.outcome, json.data.answer]).toEqual([200, 'refused', answer]);
    expect(stored(instance)).toMatchObject({ status: 'failed', attempts: 1, lastError: answer });
  });

  test('reports an unreachable server', async () => {
    const { server, instance } = await withServer();
    await server.close();
    const { json } = await send(instance, instance.workspaceKey, { to: 'owner@example.com' });
    expect(json.data).toMatchObject({ outcome: 'refused', answer: `127.0.0.1:${server.port} refuses connections` });
  });

  test('is not also sent by the queue', async () => {
    const { server, instance } = await withServer();
    await Promise.all([
      send(instance, instance.workspaceKey, { to: 'owner@example.com' }),
      instance.services.mail.runOnce(),
    ]);
    await instance.services.mail.runOnce();
    expect(server.offered).toHaveLength(1);
  });
});

describe('a test mail without a mail server', () => {
  test('is in the outbox', async () => {
    const { instance, owner } = await setUpPeople();
    const { status, json } = await send(instance, owner.token, {});
    expect([status, json.data]).toEqual([
      200,
      { transport: 'outbox', to: owner.email, outcome: 'captured', answer: null, durationMs: expect.any(Number) },
    ]);
    const [mail] = (await instance.call('GET', '/api/workspace/outbox', { token: owner.token })).json.data.items;
    expect(mail).toMatchObject({ to: owner.email, status: 'captured', attempts: 1, lane: 'notice', isReadable: true });
  });
});

describe('a refused test mail', () => {
  test('a key that names no recipient, and a recipient who is no member, are refused', async () => {
    const { instance, owner } = await setUpPeople();
    const other = await given.tenant(instance);
    const { clientId } = await instance.createApplication();
    await instance.signIn(clientId, 'ada@example.com');
    const before = instance.sqlite.query('SELECT count(*) AS n FROM mails').get();
    for (const [token, body] of [
      [instance.workspaceKey, undefined],
      [instance.workspaceKey, { to: 'ada@example.com' }],
      [owner.token, { to: 'ada@example.com' }],
      [owner.token, { to: 'stranger@example.com' }],
      [owner.token, { to: 'no address' }],
      [other.workspaceKey, { to: owner.email }],
    ] as const) {
      const { status, json, text } = await send(instance, token, body);
      expect([status, json.error, json.fields[0].path]).toEqual([400, 'invalid_request', 'to']);
      expect(text).not.toContain('stranger');
    }
    expect(instance.sqlite.query('SELECT count(*) AS n FROM mails').get()).toEqual(before);
  });

  test('members with read access and read keys are refused', async () => {
    const { instance, member } = await setUpPeople();
    const reader = await given.workspaceKey(instance, { access: 'read' });
    for (const token of [member.token, reader.token]) {
      const { status, json } = await send(instance, token, { to: 'owner@example.com' });
      expect([status, json.error]).toEqual([403, 'admin_scope_required']);
    }
    expect((await instance.call('POST', PATH)).status).toBe(401);
  });

  test('a test mail is refused once the workspace has used up its hourly mails', async () => {
    const instance = await createInstance({ environment: { GATEHOUSE_LIMIT_MAILS_PER_WORKSPACE: '2' } });
    const body = { to: 'owner@example.com' };
    const answers = [];
    for (let n = 0; n < 3; n += 1) answers.push(await send(instance, instance.workspaceKey, body));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[1]!.headers.get('ratelimit-remaining')).toBe('0');
    expect(answers[2]!.headers.get('retry-after')).toBe('3600');
  });
});
