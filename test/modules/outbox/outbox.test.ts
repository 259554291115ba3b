/** The mails that an owner may see, and their content: a code is hidden if another tenant knows the person too. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, MINUTE } from '@/core/clock.ts';
import { queueMail, recordMailOutcome } from '@/store/mails.ts';
import { findUserByEmail } from '@/store/people.ts';
import { insertWorkspaceMember } from '@/store/workspace-members.ts';
import * as given from '../../support/given.ts';
import type { Instance } from '../../support/instance.ts';
import { createInstance } from '../../support/instance.ts';
import { MEMBERS, invite, setUpPeople, tokenOf } from '../workspace/people.ts';

const OUTBOX = '/api/workspace/outbox';

interface Row {
  readonly id: string;
  readonly to: string;
  readonly subject: string | null;
  readonly isReadable: boolean;
  readonly status: string;
}

const list = (instance: Instance, token: string, query = '') => instance.call('GET', `${OUTBOX}${query}`, { token });

async function rowsOf(instance: Instance, token: string, query = ''): Promise<Row[]> {
  await instance.services.mail.runOnce();
  const { status, json } = await list(instance, token, query);
  expect(status).toBe(200);
  return json.data.items;
}

/** Returns the owner's view of the newest mail to an address, in the list and alone. */
async function newestTo(instance: Instance, token: string, email: string, query = '') {
  const row = (await rowsOf(instance, token, `?q=${email}${query}`))[0]!;
  const { status, json } = await instance.call('GET', `${OUTBOX}/${row.id}?${query.slice(1)}`, { token });
  expect(status).toBe(200);
  const { text, html, code, ...envelope } = json.data;
  expect({ ...envelope, subject: envelope.subject?.replace(code, '••••••') ?? null }).toEqual(row);
  return { row, text, html, code };
}

const askForCode = (instance: Instance, clientId: string, email: string) =>
  instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId } });

/** A workspace that is not the owner's. */
async function neighbour(instance: Instance) {
  const tenant = await given.tenant(instance);
  const seat = async (email: string, role: 'owner' | 'member') => {
    const { id: userId } = (await findUserByEmail(instance.db.reader, email))!;
    await instance.db.write(SYSTEM_ACTOR, (unit) => insertWorkspaceMember(unit, tenant.workspaceId, { userId, role }));
  };
  return { ...tenant, seat };
}

const HIDDEN = { text: null, html: null, code: null };

describe('access to the outbox', () => {
  test('is limited to owners signed in to the console: no admin, member or key has it', async () => {
    const { instance, owner, admin, member } = await setUpPeople();
    const [mail] = await rowsOf(instance, owner.token);
    for (const path of [OUTBOX, `${OUTBOX}/${mail!.id}`]) {
      for (const token of [admin.token, member.token, instance.workspaceKey]) {
        const { status, json } = await instance.call('GET', path, { token });
        expect([status, json.error]).toEqual([403, 'forbidden']);
      }
      expect((await instance.call('GET', path)).status).toBe(401);
    }
  });

  test('an owner of one workspace finds nothing of another, by any id', async () => {
    const { instance, owner } = await setUpPeople();
    const other = await neighbour(instance);
    await askForCode(instance, other.application.clientId, 'eve@example.com');
    await instance.services.mail.runOnce();
    const { id } = instance.sqlite.query("SELECT id FROM mails WHERE recipient = 'eve@example.com'").get() as Row;
    expect((await instance.call('GET', `${OUTBOX}/${id}`, { token: owner.token })).status).toBe(404);
    expect(await rowsOf(instance, owner.token, '?q=eve')).toEqual([]);
    expect((await list(instance, owner.token, `?workspaceId=${other.workspaceId}`)).status).toBe(404);
  });

  test('ends at once with the role', async () => {
    const { instance, owner } = await setUpPeople();
    const token = await tokenOf(instance, 'owner@example.com');
    await invite(instance, 'second@example.com', 'owner', token);
    const second = await tokenOf(instance, 'second@example.com');
    expect((await list(instance, second)).status).toBe(200);
    const { items } = (await instance.call('GET', MEMBERS, { token })).json.data;
    const { id } = items.find(({ email }: { email: string }) => email === 'second@example.com');
    await instance.call('PATCH', `${MEMBERS}/${id}`, { token: owner.token, body: { role: 'admin' } });
    expect((await list(instance, second)).status).toBe(403);
  });
});

describe('the outbox', () => {
  test('lists mails of the applications, the workspace, and the console for its members, newest first', async () => {
    const { instance, owner } = await setUpPeople();
    const application = await instance.createApplication();
    instance.clock.advance(MINUTE);
    await askForCode(instance, application.clientId, 'ada@example.com');
    const rows = await rowsOf(instance, owner.token);
    expect(rows[0]).toEqual({
      id: expect.stringMatching(/^mail_/),
      to: 'ada@example.com',
      sender: 'Shop',
      subject: '•••••• is your Shop sign-in code',
      lane: 'code',
      status: 'captured',
      attempts: 1,
      lastError: null,
      applicationId: application.id,
      createdAt: new Date(instance.clock.now()).toISOString(),
      sentAt: new Date(instance.clock.now()).toISOString(),
      isReadable: true,
    } as never);
    // Invitations belong to the workspace, the codes after them to the console.
    const who = [
      'admin@example.com',
      'admin@example.com',
      'member@example.com',
      'member@example.com',
      'owner@example.com',
    ];
    expect(
      rows
        .slice(1)
        .map(({ to }) => to)
        .sort(),
    ).toEqual(who);
    const ids = rows.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort().reverse());
  });

  test('hides mails of the console from before its reader was a member', async () => {
    const { instance, owner } = await setUpPeople();
    const other = await neighbour(instance);
    await instance.signIn(other.application.clientId, 'late@example.com');
    await other.seat('late@example.com', 'member');
    instance.clock.advance(MINUTE);
    await askForCode(instance, 'console', 'late@example.com');
    instance.clock.advance(MINUTE);
    await invite(instance, 'late@example.com', 'member');
    const mails = await rowsOf(instance, owner.token, '?q=late@');
    expect(mails).toHaveLength(1);
    expect((await instance.call('GET', `${OUTBOX}/${mails[0]!.id}`, { token: owner.token })).json.data.lane).toBe(
      'notice',
    );
  });

  test('pages without gaps, filters by status, and searches part of the recipient in any case', async () => {
    const { instance, owner } = await setUpPeople();
    const { id: applicationId } = await instance.createApplication();
    const origin = { applicationId, workspaceId: instance.workspaceId };
    const content = { subject: 's', text: 't', html: 'h', code: null, expiresAt: instance.clock.now() + DAY, origin };
    const failed = await instance.db.write(SYSTEM_ACTOR, async (unit) => {
      const ids: string[] = [];
      for (let n = 0; n < 12; n += 1) ids.push(await queueMail(unit, { ...content, to: `u${n}@shop.example` }));
      await recordMailOutcome(
        unit,
        { id: ids[3]!, attempts: 0 },
        { status: 'failed', error: '550 no such user', isExpired: false },
      );
      await recordMailOutcome(unit, { id: ids[4]!, attempts: 0 }, { status: 'sent' });
      return ids[3]!;
    });
    const everything = await rowsOf(instance, owner.token, '?limit=200');
    const seen: Row[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { json } = await list(instance, owner.token, `?limit=3${cursor && `&cursor=${cursor}`}`);
      seen.push(...json.data.items);
      cursor = json.data.nextCursor;
    }
    expect(seen).toEqual(everything);
    expect(await rowsOf(instance, owner.token, '?status=failed')).toMatchObject([
      { id: failed, lastError: '550 no such user', subject: null, isReadable: false },
    ]);
    expect(await rowsOf(instance, owner.token, '?status=sent')).toMatchObject([
      { to: 'u4@shop.example', subject: null },
    ]);
    expect((await rowsOf(instance, owner.token, '?q=U1')).map(({ to }) => to)).toEqual([
      'u11@shop.example',
      'u10@shop.example',
      'u1@shop.example',
    ]);
    expect(await rowsOf(instance, owner.token, '?q=u1&status=sent')).toEqual([]);
    for (const query of ['?cursor=x', '?status=lost', '?q=', '?limit=0'])
      expect((await list(instance, owner.token, query)).status).toBe(400);
  });
});

describe('a code', () => {
  test('can be read by the owner of the only workspace, and signs its person in', async () => {
    const { instance, owner } = await setUpPeople();
    const { clientId } = await instance.createApplication();
    const sent = await askForCode(instance, clientId, 'ada@example.com');
    const { row, code, text, html } = await newestTo(instance, owner.token, 'ada@example.com');
    expect(row.isReadable).toBe(true);
    expect([text, html]).toEqual([expect.stringContaining(code), expect.stringContaining(code)]);
    const body = { challengeId: sent.json.data.challengeId, code };
    expect((await instance.call('POST', '/api/v1/auth/otp/verify', { body })).status).toBe(200);
  });

  test('is shown in a sandboxed document without scripts, and the view is recorded', async () => {
    const { instance, owner, admin } = await setUpPeople();
    const { clientId } = await instance.createApplication();
    await askForCode(instance, clientId, 'ada@example.com');
    const { row, code } = await newestTo(instance, owner.token, 'ada@example.com');
    const look = (token: string) => instance.call('GET', `${OUTBOX}/${row.id}/look`, { token });
    const { status, headers, text } = await look(owner.token);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none';(?!.*script)/);
    expect(text).toContain(code);
    expect((await look(admin.token)).status).toBe(403);
    expect(instance.sqlite.query("SELECT id FROM audit_records WHERE kind = 'mail.read'").all()).toHaveLength(2);
    const other = await neighbour(instance);
    await other.seat('owner@example.com', 'member');
    expect((await look(owner.token)).status).toBe(404);
  });

  test('read by another person is recorded with reader, recipient and mail, without the content', async () => {
    const { instance, owner } = await setUpPeople();
    const { id, clientId } = await instance.createApplication();
    await askForCode(instance, clientId, 'ada@example.com');
    await askForCode(instance, clientId, 'owner@example.com');
    const { row, code } = await newestTo(instance, owner.token, 'ada@example.com');
    await newestTo(instance, owner.token, 'owner@example.com');
    const records = instance.sqlite.query("SELECT * FROM audit_records WHERE kind = 'mail.read'").all();
    expect(records).toMatchObject([
      { application_id: id, email: 'ada@example.com', target_id: row.id, actor_user_id: owner.userId, ok: 1 },
    ]);
    expect(JSON.stringify(records)).not.toContain(code);
  });

  test.each(['sits in', 'is a customer of', 'is invited to', 'is reserved a place in'])(
    'a code of a person who also %s another’s workspace is hidden unless the caller owns both',
    async (how) => {
      const { instance, owner } = await setUpPeople();
      const { clientId } = await instance.createApplication();
      const other = await neighbour(instance);
      await instance.signIn(clientId, 'ada@example.com');
      instance.clock.advance(MINUTE);
      await askForCode(instance, clientId, 'ada@example.com');
      const before = await newestTo(instance, owner.token, 'ada@example.com');
      expect([before.row.isReadable, before.code]).toEqual([true, instance.codeFor('ada@example.com')]);
      const again = async () =>
        (await instance.call('GET', `${OUTBOX}/${before.row.id}`, { token: owner.token })).json.data;

      if (how === 'sits in') await other.seat('ada@example.com', 'member');
      if (how === 'is a customer of') {
        instance.clock.advance(MINUTE);
        await instance.signIn(other.application.clientId, 'ada@example.com');
      }
      if (how === 'is invited to') {
        const body = { email: 'ada@example.com', role: 'member' };
        expect((await instance.call('POST', MEMBERS, { token: other.workspaceKey, body })).status).toBe(200);
      }
      if (how === 'is reserved a place in') {
        const path = `/api/applications/${other.application.id}/users/bulk`;
        const body = { users: [{ email: 'ada@example.com' }] };
        expect((await instance.call('POST', path, { token: other.workspaceKey, body })).status).toBe(200);
      }
      expect(await again()).toMatchObject({ ...HIDDEN, isReadable: false, subject: null });

      await other.seat('owner@example.com', 'owner');
      expect(await again()).toMatchObject({ isReadable: true, code: before.code });
    },
  );

  test('a console code is hidden for a member of another workspace too, and shown for one of this alone', async () => {
    const { instance, owner, admin, member } = await setUpPeople();
    const other = await neighbour(instance);
    await other.seat(admin.email, 'owner');
    instance.clock.advance(MINUTE);
    for (const { email } of [admin, member]) await askForCode(instance, 'console', email);
    const { row, ...content } = await newestTo(instance, owner.token, admin.email);
    expect([row.isReadable, content]).toEqual([false, HIDDEN]);
    expect((await newestTo(instance, owner.token, member.email)).code).toBe(instance.codeFor(member.email));
    // A membership without ownership does not help.
    await other.seat('owner@example.com', 'member');
    expect((await newestTo(instance, owner.token, admin.email)).row.isReadable).toBe(false);
  });

  test('a code to a former address belongs to its person', async () => {
    const { instance, owner } = await setUpPeople();
    const { id: applicationId, clientId } = await instance.createApplication();
    const other = await neighbour(instance);
    const { userId } = await instance.signIn(clientId, 'new@example.com');
    await given.alias(instance, 'old@example.com', userId);
    const origin = { applicationId, workspaceId: instance.workspaceId };
    await instance.db.write(SYSTEM_ACTOR, (unit) =>
      queueMail(unit, {
        to: 'old@example.com',
        subject: 'undo',
        text: 'link',
        html: 'link',
        code: null,
        expiresAt: unit.now + DAY,
        origin,
      }),
    );
    expect((await newestTo(instance, owner.token, 'old@example.com')).text).toBe('link');
    instance.clock.advance(MINUTE);
    await instance.signIn(other.application.clientId, 'new@example.com');
    expect((await newestTo(instance, owner.token, 'old@example.com')).text).toBe(null);
  });

  test('a code of an unknown person is hidden if other workspaces exist, which reveals nothing about them', async () => {
    const { instance, owner } = await setUpPeople();
    const { clientId } = await instance.createApplication();
    const other = await neighbour(instance);
    await instance.signIn(other.application.clientId, 'known@example.com');
    instance.clock.advance(MINUTE);
    for (const email of ['known@example.com', 'nobody@example.com']) {
      await askForCode(instance, clientId, email);
      const { row, ...content } = await newestTo(instance, owner.token, email);
      expect([row.isReadable, row.subject, content]).toEqual([false, null, HIDDEN]);
      const invited = email.replace('@', '.invited@');
      await invite(instance, invited, 'member');
      expect((await newestTo(instance, owner.token, invited)).row.isReadable).toBe(false);
    }
  });

  test('is hidden while a mail server is to send it, and afterwards', async () => {
    const held = Promise.withResolvers<undefined>();
    const instance = await createInstance({ mail: { slots: 4, send: () => held.promise, close() {} } });
    const { clientId } = await instance.createApplication();
    const { token } = await instance.signIn('console', 'owner@example.com');
    await askForCode(instance, clientId, 'ada@example.com');
    const rows = (await list(instance, token)).json.data.items as Row[];
    expect(rows.map(({ status, subject, isReadable }) => [status, subject, isReadable])).toEqual([
      ['queued', null, false],
      ['queued', null, false],
    ]);
    const one = await instance.call('GET', `${OUTBOX}/${rows[0]!.id}`, { token });
    expect(one.json.data).toMatchObject(HIDDEN);
    held.resolve(undefined);
    await instance.services.mail.runOnce();
    expect((await list(instance, token)).json.data.items).toMatchObject([{ status: 'sent', subject: null }, {}]);
  });
});
