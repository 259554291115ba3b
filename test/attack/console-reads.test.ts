/** Console data requested by people without access: other tenants, and members whose access is just ending. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import type { AuditKind } from '@/core/audit.ts';
import { AppError } from '@/core/error.ts';
import { SENT_NOW_AT_ONCE } from '@/mail/send-now.ts';
import { MailError, type MailTransport } from '@/mail/transport.ts';
import { activityStreams } from '@/modules/activity/streams.ts';
import { AUDIT_NOTICED, recordAudit } from '@/store/audit.ts';
import { MINUTE } from '@/core/clock.ts';
import { follow } from '../modules/live/listen.ts';
import { createScene, personOf, RETURN_TO, sceneOf } from '../modules/provider/scene.ts';
import { openTestDatabase } from '../support/database.ts';
import * as given from '../support/given.ts';
import { createInstance, type Instance, START } from '../support/instance.ts';
import { turns } from '../support/turns.ts';

const OUTBOX = '/api/workspace/outbox';

/** A person who owns a workspace other than the instance's own, signed in to the console. */
async function tenantOwner(instance: Instance, email = 'mallory@example.com') {
  const tenant = await given.tenant(instance, 'Mallory');
  const body = { email, role: 'admin' };
  const invited = await instance.call('POST', '/api/workspace/members', { token: tenant.workspaceKey, body });
  expect(invited.status).toBe(200);
  instance.sqlite.run("UPDATE workspace_members SET role = 'owner' WHERE id = ?", [invited.json.data.id]);
  instance.clock.advance(MINUTE);
  const { token } = await instance.signIn('console', email);
  return { ...tenant, token };
}

describe('the outbox', () => {
  test('hides codes of a person whom the tenant’s own provider signed in: a code would prove their address', async () => {
    const scene = await createScene();
    const { instance, provider } = scene;
    const tenant = await tenantOwner(instance);
    await given.application(instance, tenant.application.id, { returnUrls: [RETURN_TO] });
    const set = await instance.call('PUT', `/api/applications/${tenant.application.id}/identity-provider`, {
      token: tenant.workspaceKey,
      body: { issuer: provider.issuer, clientId: 'mallory', clientSecret: 'secret' },
    });
    expect(set.status).toBe(200);
    const own = sceneOf(instance, tenant.application, provider);
    const landed = await own.signIn({ aud: 'mallory', sub: 'mallory', email: 'victim@example.com' });
    expect((await personOf(own, landed)).email).toBe('victim@example.com');

    const { clientId } = tenant.application;
    await instance.call('POST', '/api/v1/auth/otp/send', { body: { email: 'victim@example.com', clientId } });
    await instance.services.mail.runOnce();
    const [row] = (await instance.call('GET', `${OUTBOX}?q=victim@`, { token: tenant.token })).json.data.items;
    expect(row).toMatchObject({ to: 'victim@example.com', isReadable: false, subject: null });
    const { json } = await instance.call('GET', `${OUTBOX}/${row.id}`, { token: tenant.token });
    expect(json.data).toMatchObject({ code: null, text: null, html: null });
  });
});

test('an owner without a proved mailbox reads their own codes and no other unproved person’s', async () => {
  const instance = await createInstance();
  const tenant = await tenantOwner(instance);
  const { clientId } = tenant.application;
  instance.clock.advance(MINUTE);
  await instance.signIn(clientId, 'mallory@example.com');
  await instance.signIn(clientId, 'eve@example.com');
  instance.sqlite.run('UPDATE users SET email_verified_at = NULL');
  instance.clock.advance(MINUTE);
  const readable: Record<string, boolean> = {};
  for (const email of ['mallory@example.com', 'eve@example.com']) {
    await instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId } });
    await instance.services.mail.runOnce();
    const { json } = await instance.call('GET', `${OUTBOX}?q=${email}`, { token: tenant.token });
    readable[email] = json.data.items[0].isReadable;
  }
  expect(readable).toEqual({ 'mallory@example.com': true, 'eve@example.com': false });
});

describe('a mail test', () => {
  const TEST = '/api/workspace/mail/test';

  test('tells a tenant what failed without naming the instance’s mail server, and so does its outbox', async () => {
    const server = 'mail.inside.example:25';
    const send = async () => {
      throw new MailError(`${server} refuses connections; is mail.inside.example up?`, false);
    };
    const mail: MailTransport = { slots: 1, server, send, close() {} };
    const instance = await createInstance({ mail });
    const tenant = await tenantOwner(instance);
    const body = { to: 'mallory@example.com' };
    const sent = await instance.call('POST', TEST, { token: tenant.token, body });
    expect(sent.json.data).toMatchObject({
      outcome: 'refused',
      answer: 'the mail server refuses connections; is the mail server up?',
    });
    const { json, text } = await instance.call('GET', `${OUTBOX}?status=failed`, { token: tenant.token });
    expect(text).not.toContain('inside');
    const one = await instance.call('GET', `${OUTBOX}/${json.data.items[0].id}`, { token: tenant.token });
    expect(one.json.data.lastError).toBe(sent.json.data.answer);
    const own = await instance.call('POST', TEST, { token: instance.workspaceKey, body: { to: 'owner@example.com' } });
    expect(own.json.data.answer).toContain(server);
  });

  test('is limited to one per workspace and a few in total, so that it takes no connection from sign-in codes', async () => {
    let isTest = false;
    let underWay = 0;
    const answers: (() => void)[] = [];
    const send = () => {
      if (!isTest) return Promise.resolve(undefined);
      underWay += 1;
      return new Promise<undefined>((resolve) => answers.push(() => resolve(undefined)));
    };
    const instance = await createInstance({ mail: { slots: 2, send, close() {} } });
    const tenants = [];
    for (let n = 0; n < SENT_NOW_AT_ONCE + 2; n += 1)
      tenants.push({ ...(await tenantOwner(instance, `m${n}@example.com`)), email: `m${n}@example.com` });
    await instance.services.mail.runOnce();
    isTest = true;
    const refused: number[] = [];
    const calls = tenants.flatMap(({ token, email }) =>
      [1, 2, 3].map(async () => {
        const { status, json } = await instance.call('POST', TEST, { token, body: { to: email } });
        if (status === 200) return json.data.outcome;
        refused.push(status);
      }),
    );
    await turns();
    expect(underWay).toBe(SENT_NOW_AT_ONCE);
    expect(refused).toEqual(Array.from({ length: calls.length - SENT_NOW_AT_ONCE }, () => 429));
    for (const answer of answers) answer();
    expect((await Promise.all(calls)).filter((outcome) => outcome === 'accepted')).toHaveLength(SENT_NOW_AT_ONCE);
    isTest = false;
    const [{ token, email }] = tenants as [(typeof tenants)[number]];
    expect((await instance.call('POST', TEST, { token, body: { to: email } })).status).toBe(200);
  });
});

describe('a stream of activity', () => {
  /** A workspace member whose membership is checked slowly. */
  function seat() {
    let isHeld = true;
    let gate = Promise.withResolvers<void>();
    gate.resolve();
    return {
      lose: () => void (isHeld = false),
      hold: () => void (gate = Promise.withResolvers()),
      release: () => gate.resolve(),
      async confirm() {
        const wasHeld = isHeld;
        await gate.promise;
        if (!wasHeld) throw new AppError('unauthenticated');
        return { maySeeNames: true };
      },
    };
  }

  const ENDED = [{ event: 'ended', data: { error: 'unauthenticated' } }];

  test.each(['by a record', 'by a heartbeat'])(
    'delivers nothing after access has ended while it is judged %s',
    async (by) => {
      const { db } = await openTestDatabase({ now: () => START });
      const streams = activityStreams(db.reader, { now: () => START });
      db.onCommit(AUDIT_NOTICED, (notices) => streams.hear(notices));
      const record = (...kinds: AuditKind[]) =>
        db.write(SYSTEM_ACTOR, async (unit) => {
          for (const kind of kinds) await recordAudit(unit, { kind, workspaceId: 'wsp_1' });
        });
      const { lose, hold, release, confirm } = seat();
      const scope = {
        workspaceId: 'wsp_1',
        applicationId: null,
        budgetId: 'usr_maker',
        userId: 'usr_1',
        credentialId: 'ses_1',
        after: null,
      };
      const stream = follow(new Response(streams.open({ ...scope, confirm })));
      await stream.told();
      await record('role.created');
      expect((await stream.told()).map(({ event }) => event)).toEqual(['activity']);
      hold();
      if (by === 'by a record') {
        // Judged before the loss, published after it.
        await record('workspace.updated');
        expect(await stream.told()).toEqual([]);
        lose();
        await record('workspace.member_removed', 'apikey.created');
        expect(await stream.told()).toEqual([]);
        release();
      } else {
        lose();
        await record('workspace.member_removed', 'apikey.created');
        const beat = streams.heartbeat();
        expect(await stream.told()).toEqual([]);
        release();
        await beat;
      }
      expect(await stream.told()).toEqual(ENDED);
    },
  );
});
