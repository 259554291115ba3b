/** The health of the instance as its operators see it: visible to them alone, complete, and without secrets. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, MINUTE, SECOND } from '@/core/clock.ts';
import { SCHEMA_VERSION } from '@/db/sqlite/migrate.ts';
import { smtpTransport } from '@/mail/smtp.ts';
import { ALL_SETTINGS } from '@/settings.ts';
import { queueMail } from '@/store/mails.ts';
import { ENGINE } from '../../support/engine.ts';
import * as given from '../../support/given.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { setUpPeople, tokenOf } from '../workspace/people.ts';

const PATH = '/api/workspace/health';

async function healthOf(instance: Instance, token: string, query = '') {
  const { status, json } = await instance.call('GET', `${PATH}${query}`, { token });
  expect(status).toBe(200);
  return json.data;
}

const DATABASE_OF = {
  sqlite: {
    walBytes: 0,
    reusableBytes: expect.any(Number),
    schemaVersion: SCHEMA_VERSION,
    freeBytes: expect.any(Number),
    server: null,
  },
  postgres: {
    walBytes: null,
    reusableBytes: null,
    schemaVersion: SCHEMA_VERSION,
    freeBytes: null,
    server: { version: expect.any(String), standbys: [], connections: { all: expect.any(Number) } },
  },
} as const;

/** The server of the tests does without what keeps data safe, and the clock of a test stands still. */
const OF_TESTS: readonly string[] = ['database_unsafe', 'autovacuum_off', 'clock_differs'];

const codesOf = (health: { warnings: { code: string }[] }) =>
  health.warnings.map(({ code }) => code).filter((code) => !OF_TESTS.includes(code));

describe('access to the instance health', () => {
  test('is limited to owners who are signed in to the console', async () => {
    const { instance, admin, member, owner } = await setUpPeople();
    for (const token of [admin.token, member.token, instance.workspaceKey])
      expect((await instance.call('GET', PATH, { token })).status).toBe(403);
    expect((await instance.call('GET', PATH)).status).toBe(401);
    expect((await healthOf(instance, owner.token)).isOperator).toBe(true);
  });

  test('of an owner of another workspace excludes settings, queues, database and warnings', async () => {
    const { instance, admin } = await setUpPeople();
    const made = await instance.call('POST', '/api/workspaces', {
      token: await tokenOf(instance, 'owner@example.com'),
      body: { name: 'Second' },
    });
    const id = made.json.data.id as string;
    instance.sqlite.run('UPDATE workspace_members SET user_id = ? WHERE workspace_id = ?', [admin.userId, id]);
    instance.clock.advance(MINUTE);
    expect(await healthOf(instance, admin.token, `?workspaceId=${id}`)).toEqual({
      version: expect.any(String),
      startedAt: new Date(START).toISOString(),
      uptimeSeconds: expect.any(Number),
      mode: 'normal',
      engine: ENGINE,
      baseUrl: 'http://localhost:8080',
      isOperator: false,
      quarantined: [],
      mail: { transport: 'outbox', source: null, server: null, from: null },
      database: null,
      instances: null,
      queues: null,
      settings: null,
      warnings: null,
    });
    expect((await instance.call('GET', PATH, { token: admin.token })).status).toBe(403);
  });
});

describe('the instance health', () => {
  test('contains version, database, queues, mail, base URL and every setting', async () => {
    const instance = await createInstance({ environment: { GATEHOUSE_PORT: '9000' } });
    const { token } = await instance.signIn('console', 'owner@example.com');
    instance.clock.advance(90 * SECOND);
    const health = await healthOf(instance, token);
    expect(health).toMatchObject({
      startedAt: new Date(START).toISOString(),
      uptimeSeconds: 90,
      mode: 'normal',
      database: DATABASE_OF[ENGINE],
      instances: ENGINE === 'sqlite' ? [] : [{ id: 'instance', isThis: true }],
      queues: { changes: expect.any(Number), deliveriesQueued: 0, deliveriesHeld: 0, longWork: 0 },
      mail: { transport: 'outbox', source: null, server: null, from: null },
    });
    expect(health.database.bytes).toBeGreaterThan(100_000);
    expect(health.settings.map(({ name }: { name: string }) => name)).toEqual(ALL_SETTINGS.map(({ env }) => env));
    const setting = (name: string) => health.settings.find((one: { name: string }) => one.name === name);
    expect(setting('GATEHOUSE_PORT')).toEqual({
      name: 'GATEHOUSE_PORT',
      value: '9000',
      isDefault: false,
      meaning: 'Port to listen on; `0` takes a free one.',
    });
    expect(setting('GATEHOUSE_HOST')).toMatchObject({ value: '127.0.0.1', isDefault: true });
    expect(setting('GATEHOUSE_SMTP_URL')).toMatchObject({ value: null, isDefault: true });
  });

  test('never contains the value of a secret', async () => {
    const url = 'smtp://canary-user:canary-password@127.0.0.1:2525';
    const mail = smtpTransport({ url, from: 'Acme <no-reply@acme.example>' });
    const instance = await createInstance({
      mail,
      environment: {
        GATEHOUSE_SMTP_URL: url,
        GATEHOUSE_GOOGLE_CLIENT_ID: 'shown',
        GATEHOUSE_GOOGLE_CLIENT_SECRET: 'canary-secret',
      },
    });
    const { token } = await instance.signIn('console', 'owner@example.com');
    const { json, text } = await instance.call('GET', PATH, { token });
    expect(text).not.toContain('canary');
    expect(text).not.toContain(instance.workspaceKey);
    const hidden = json.data.settings.filter(({ value }: { value: string }) => value === '••••');
    expect(hidden.map(({ name }: { name: string }) => name)).toEqual([
      'GATEHOUSE_WORKSPACE_KEY',
      'GATEHOUSE_SMTP_URL',
      'GATEHOUSE_GOOGLE_CLIENT_SECRET',
    ]);
    expect(json.data.mail).toEqual({
      transport: 'smtp',
      source: 'environment',
      server: '127.0.0.1:2525',
      from: 'Acme <no-reply@acme.example>',
    });
    expect(codesOf(json.data)).toEqual(['base_url_unset']);
    instance.services.mail.close();
  });

  test('counts the queues by index, at most every five seconds', async () => {
    const instance = await createInstance({
      mail: { slots: 1, send: () => new Promise(() => {}), close() {} },
    });
    const { token } = await instance.signIn('console', 'owner@example.com');
    const queue = (lane: 'notice' | 'bulk') =>
      instance.db.write(SYSTEM_ACTOR, (unit) =>
        queueMail(unit, {
          to: 'ada@example.com',
          subject: 's',
          text: 't',
          html: 'h',
          code: null,
          lane,
          expiresAt: unit.now + DAY,
          origin: { applicationId: null, workspaceId: null },
        }),
      );
    await queue('notice');
    await queue('bulk');
    expect((await healthOf(instance, token)).queues.mailsQueued).toEqual({ code: 1, notice: 1, bulk: 1 });
    await queue('bulk');
    expect((await healthOf(instance, token)).queues.mailsQueued.bulk).toBe(1);
    instance.clock.advance(5 * SECOND);
    expect((await healthOf(instance, token)).queues.mailsQueued.bulk).toBe(2);
    instance.clock.advance(11 * MINUTE);
    expect(codesOf(await healthOf(instance, token))).toContain('mail_waits');
    if (ENGINE === 'postgres') return;
    const plan = instance.sqlite
      .query(
        "EXPLAIN QUERY PLAN SELECT lane, count(*), min(next_attempt_at) FROM mails WHERE status = 'queued' GROUP BY lane",
      )
      .all() as { detail: string }[];
    expect(plan.map(({ detail }) => detail).join()).toContain('USING COVERING INDEX mails_due');
  });

  test('separates held deliveries from queued ones', async () => {
    const instance = await createInstance();
    const { id } = await instance.createApplication();
    const webhook = await instance.call('POST', `/api/applications/${id}/webhooks`, {
      token: instance.workspaceKey,
      body: { url: 'https://hooks.example/in', events: ['*'] },
    });
    const { token } = await instance.signIn('console', 'owner@example.com');
    instance.sqlite.run("UPDATE webhooks SET status = 'quarantined'");
    await instance.db.write(SYSTEM_ACTOR, async (unit) => {
      const { emit } = await import('@/events/emit.ts');
      await emit(unit, { type: 'user.banned', applicationId: id, data: { userId: 'usr_x' } });
    });
    expect(webhook.status).toBe(200);
    expect((await healthOf(instance, token)).queues).toMatchObject({ deliveriesQueued: 0, deliveriesHeld: 1 });
  });

  test('lists the quarantined endpoints of the workspace that is asked for, and of no other', async () => {
    const instance = await createInstance();
    const application = await instance.createApplication({ name: 'Shop' });
    const register = async (id: string, token: string, url: string) =>
      (await instance.call('POST', `/api/applications/${id}/webhooks`, { token, body: { url, events: ['*'] } })).json
        .data.id as string;
    const own = await register(application.id, instance.workspaceKey, 'https://hooks.example/in');
    await register(application.id, instance.workspaceKey, 'https://hooks.example/disabled');
    const other = await given.tenant(instance);
    await register(other.application.id, other.workspaceKey, 'https://hooks.example/other');
    instance.sqlite.run("UPDATE webhooks SET status = 'quarantined' WHERE url NOT LIKE '%disabled'");
    instance.sqlite.run("UPDATE webhooks SET status = 'disabled' WHERE url LIKE '%disabled'");
    const { token } = await instance.signIn('console', 'owner@example.com');
    expect((await healthOf(instance, token)).quarantined).toEqual([
      { id: own, url: 'https://hooks.example/in', applicationId: application.id, applicationName: 'Shop' },
    ]);
  });

  test('warns that nothing backs up the server once an application has a user', async () => {
    const instance = await createInstance();
    const application = await instance.createApplication();
    const { token } = await instance.signIn('console', 'owner@example.com');
    const path = `/api/applications/${application.id}/api-keys`;
    await instance.call('POST', path, { token: instance.workspaceKey, body: { name: 'Backend' } });
    expect(codesOf(await healthOf(instance, token))).not.toContain('backups_off');
    await instance.signIn(application.clientId, 'ada@example.com');
    const codes = codesOf(await healthOf(instance, token));
    // PostgreSQL's own tools make its backups.
    expect(codes.includes('backups_off')).toBe(ENGINE === 'sqlite');
  });

  test('warns of an untrusted proxy once a request came through one', async () => {
    const instance = await createInstance();
    const { token } = await instance.signIn('console', 'owner@example.com');
    expect(codesOf(await healthOf(instance, token))).toEqual(['mail_goes_nowhere', 'base_url_unset']);
    await instance.call('GET', '/healthz', { headers: { 'x-forwarded-for': '198.51.100.1' } });
    expect(codesOf(await healthOf(instance, token))).toContain('proxy_not_trusted');
    await given.tenant(instance);
    expect((await healthOf(instance, token)).isOperator).toBe(true);
  });
});
