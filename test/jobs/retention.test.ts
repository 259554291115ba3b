import { beforeAll, describe, expect, test } from 'bun:test';
import { DAY, HOUR } from '@/core/clock.ts';
import { RETENTION_RULES } from '@/jobs/retention-rules.ts';
import { retentionJob } from '@/jobs/retention.ts';
import { CONNECTION, type Database, type Unit } from '@/db/database.ts';
import { ENGINE } from '../support/engine.ts';
import { createInstance, type Instance } from '../support/instance.ts';

/** Hash columns, filled with the row's name in these tests. */
const HASHED: Readonly<Record<string, readonly string[]>> = {
  sessions: ['token_hash'],
  provider_states: ['state_hash'],
  email_changes: ['token_hash'],
  device_grants: ['device_code_hash', 'user_code_digest'],
  retired_key_tokens: ['token_hash'],
  setup_links: ['token_hash'],
  oauth_assertions: ['assertion_hash'],
  oauth_codes: ['code_hash'],
  oauth_refresh_tokens: ['token_hash'],
};
/** The column that identifies a row where it is neither id nor hash. */
const NAMED_BY: Readonly<Record<string, string>> = {
  daily_counts: 'label',
  hourly_counts: 'subject',
  bulk_change_members: 'bulk_change_id',
  oauth_clients: 'client_id',
  oauth_grants: 'session_id',
};
/** Tables without an id column of their own: rows are identified by their hash. */
const UNNAMED = [
  'bulk_change_members',
  'provider_states',
  'email_changes',
  'retired_key_tokens',
  'setup_links',
  'oauth_assertions',
  'oauth_clients',
  'oauth_codes',
  'oauth_grants',
  'oauth_refresh_tokens',
];

/** Inserts rows of known ages by SQL, since no operation can create old rows. Missing columns get default values. */
function filler({ sqlite, clock }: Instance) {
  const defaults: Record<string, Record<string, unknown>> = {
    sessions: { token_hash: null, method: 'otp', last_seen_at: 1, created_at: 1, expires_at: clock.now() + DAY },
    code_challenges: { purpose: 'sign_in', email: 'a@example.com', code_digest: Buffer.of(1), wrong_tries: 0 },
    code_failures: { application_id: 'app', email: 'a@example.com', purpose: 'sign_in' },
    mails: { recipient: 'a', subject: 's', attempts: 0, next_attempt_at: 1, expires_at: 1 },
    daily_counts: { application_id: 'app', metric: 'sign_in', count: 1 },
    hourly_counts: { metric: 'sign_in', count: 1 },
    passkey_challenges: { purpose: 'sign_in', challenge: Buffer.of(1), created_at: 1 },
    provider_states: {
      purpose: 'sign_in',
      browser_hash: Buffer.of(1),
      issuer: 'https://id.example.com',
      client_id: 'c',
      return_to: '/',
      created_at: 1,
    },
    email_changes: { previous_email: 'a@example.com', created_at: 1 },
    device_grants: { status: 'pending', interval_seconds: 5, created_at: 1 },
    retired_key_tokens: {},
    setup_links: { created_at: 1 },
    oauth_clients: {
      ...{ kind: 'registered', redirect_uris: '[]', post_logout_redirect_uris: '[]', id_token_alg: 'RS256' },
      ...{ created_at: 1, updated_at: 1 },
    },
    oauth_codes: {
      ...{ client_id: 'c', page_session_id: 's', redirect_uri: 'https://app.example.com/' },
      ...{ code_challenge: 'c', scope: 'openid', created_at: 1 },
    },
    oauth_grants: { client_id: 'c', page_session_id: 's', scope: 'openid', created_at: 1 },
    oauth_refresh_tokens: { session_id: 's', created_at: 1 },
    signing_keys: { alg: 'RS256', public_jwk: '{}', sealed_private_jwk: 'x', created_at: 1, signs_from: 1 },
    bulk_changes: {
      ...{ change: '{}', audit_id: 'a', created_at: 1 },
      ...{ changed: 0, unchanged: 0, refused: 0, skipped: 0 },
    },
    bulk_change_members: { outcome: 'changed', detail: '{}' },
    audit_records: { kind: 'setup.link_created', ok: 1, actor_type: 'system' },
    events: { type: 'user.left', data: '{}' },
    webhooks: {
      url: 'https://example.com',
      events: '["*"]',
      status: 'active',
      sealed_secret: 'x',
      created_at: 1,
      updated_at: 1,
    },
    deliveries: { event_type: 'user.left', attempts: 1, next_attempt_at: 1 },
    delivery_attempts: { number: 1, duration_ms: 1, request_headers: '{}' },
  };
  return function insert(table: string, row: Record<string, unknown>): void {
    const values: Record<string, unknown> = { ...defaults[table], ...row };
    for (const name of HASHED[table] ?? []) values[name] ??= Buffer.from(String(row['id']));
    if (UNNAMED.includes(table)) delete values['id'];
    const names = Object.keys(values);
    sqlite
      .prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => '?').join()})`)
      .run(...(Object.values(values) as string[]));
  };
}

const idsOf = ({ sqlite }: Instance, table: string, column = 'id') =>
  (sqlite.query(`SELECT ${column} AS id FROM ${table} ORDER BY ${column}`).all() as { id: unknown }[]).map(
    ({ id }) => id,
  );

async function setUp() {
  const instance = await createInstance();
  const application = await instance.createApplication();
  await instance.signIn(application.clientId, 'ada@example.com');
  // Stops the senders, so that queued mails and deliveries keep their status. The set-up's own rows are deleted.
  instance.services.mail.close();
  await instance.services.deliveries.stop();
  for (const table of ['sessions', 'code_challenges', 'mails', 'events', 'audit_records'])
    instance.sqlite.run(`DELETE FROM ${table}`);
  const member = instance.sqlite
    .query('SELECT id FROM application_users WHERE application_id = ?')
    .get(application.id) as {
    id: string;
  };
  const insert = filler(instance);
  insert('webhooks', { id: 'whk', application_id: application.id });
  const ago = (ms: number) => instance.clock.now() - ms;
  const run = async () => void (await retentionJob({ ...instance, auditDays: 365 }).runOnce());
  return { instance, applicationId: application.id, memberId: member.id, insert, ago, run };
}

type Scene = Awaited<ReturnType<typeof setUp>>;

interface Delivery {
  id: string;
  ageMs: number;
  status: string;
  finishedMsAgo?: number;
}

/** Inserts an event with its deliveries, each with one attempt. */
function addEvent({ insert, applicationId, ago }: Scene, id: string, ageMs: number, deliveries: Delivery[] = []): void {
  insert('events', { id, application_id: applicationId, created_at: ago(ageMs) });
  for (const { id: deliveryId, ageMs: age, status, finishedMsAgo } of deliveries) {
    const isOver = status === 'delivered' || status === 'failed';
    const finished = isOver ? ago(finishedMsAgo ?? age) : null;
    insert('deliveries', {
      id: deliveryId,
      webhook_id: 'whk',
      event_id: id,
      status,
      created_at: ago(age),
      finished_at: finished,
    });
    insert('delivery_attempts', { delivery_id: deliveryId, started_at: finished ?? ago(age) });
  }
}

describe('retention', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await setUp();
    // Sends the mails of the set-up, so that nothing wakes the sender later.
    await scene.instance.services.mail.runOnce();
    const { instance, insert, ago, memberId, applicationId, run } = scene;
    const session = { application_user_id: memberId };
    insert('sessions', { ...session, id: 'open', expires_at: ago(-DAY) });
    insert('sessions', { ...session, id: 'expired 29 d', expires_at: ago(29 * DAY), expiry_reported_at: 1 });
    insert('sessions', { ...session, id: 'expired 31 d', expires_at: ago(31 * DAY), expiry_reported_at: 1 });
    insert('sessions', { ...session, id: 'revoked 29 d', revoked_at: ago(29 * DAY), revoked_reason: 'banned' });
    insert('sessions', { ...session, id: 'revoked 31 d', revoked_at: ago(31 * DAY), revoked_reason: 'banned' });
    for (const days of [29, 31])
      insert('code_challenges', {
        id: `expired ${days} d`,
        application_id: applicationId,
        created_at: 1,
        expires_at: ago(days * DAY),
      });
    for (const hours of [47, 49]) insert('code_failures', { id: hours, failed_at: ago(hours * HOUR) });
    for (const status of ['queued', 'sent', 'captured', 'failed'])
      for (const days of [29, 31]) insert('mails', { id: `${status} ${days} d`, status, created_at: ago(days * DAY) });
    for (const days of [364, 366]) insert('audit_records', { id: `${days} d`, created_at: ago(days * DAY) });
    for (const days of [749, 751]) insert('daily_counts', { label: `${days} d`, day: ago(days * DAY) });
    for (const days of [31, 33]) insert('hourly_counts', { subject: `${days} d`, hour: ago(days * DAY) });
    const { user_id: userId } = instance.sqlite
      .query('SELECT user_id FROM application_users WHERE id = ?')
      .get(memberId) as { user_id: string };
    const { id: keyId } = instance.sqlite.query('SELECT id FROM api_keys LIMIT 1').get() as { id: string };
    for (const table of ['setup_links', 'retired_key_tokens']) instance.sqlite.run(`DELETE FROM ${table}`);
    const expiring = (table: string, days: readonly number[], row: object = {}) => {
      for (const day of days) insert(table, { id: `${day} d`, expires_at: ago(day * DAY), ...row });
    };
    // Rows that are still valid or expired recently are kept.
    const ofApplication = { application_id: applicationId };
    expiring('passkey_challenges', [-1, 0.9, 1.1], ofApplication);
    expiring('provider_states', [-1, 0.9, 1.1], ofApplication);
    expiring('email_changes', [-7, 29, 31], { ...ofApplication, user_id: userId });
    expiring('device_grants', [-1, 29, 31], ofApplication);
    expiring('setup_links', [-1, 29, 31]);
    expiring('oauth_codes', [-1, 0.9, 1.1], { ...ofApplication, application_user_id: memberId });
    expiring('oauth_assertions', [-1, 1]);
    expiring('oauth_refresh_tokens', [-1, 29, 31]);
    for (const day of [-1, 29, 31])
      insert('oauth_grants', { session_id: `${day} d`, application_user_id: memberId, expires_at: ago(day * DAY) });
    insert('oauth_clients', { client_id: 'of the application', ...ofApplication });
    for (const day of [-1, 29, 31])
      insert('oauth_clients', { client_id: `${day} d`, ...ofApplication, expires_at: ago(day * DAY) });
    for (const day of [-1, 399, 401]) insert('signing_keys', { id: `${day} d`, signs_until: ago(day * DAY) });
    for (const days of [30, 32]) {
      insert('bulk_changes', { id: `${days} d`, application_id: applicationId, finished_at: ago(days * DAY) });
      const [bulk_change_id, created_at] = [`${days} d`, ago(days === 30 ? 29 * DAY : days * DAY)];
      insert('bulk_change_members', { bulk_change_id, application_user_id: memberId, created_at });
    }
    for (const days of [1, 89, 91])
      insert('retired_key_tokens', { id: `${days} d`, api_key_id: keyId, retired_at: ago(days * DAY) });
    await run();
    // PostgreSQL checks at each commit.
    if (ENGINE === 'sqlite') expect(instance.sqlite.query('PRAGMA foreign_key_check').all()).toEqual([]);
  });

  /** Rows kept in each table with a retention period. Deliveries and events are tested below. */
  const KEPT: Readonly<Record<string, readonly (string | number)[]>> = {
    sessions: ['open', 'expired 29 d', 'revoked 29 d'],
    code_challenges: ['expired 29 d'],
    code_failures: [47],
    // A queued mail is never deleted.
    mails: ['queued 29 d', 'queued 31 d', 'sent 29 d', 'captured 29 d', 'failed 29 d'],
    audit_records: ['364 d'],
    bulk_changes: ['30 d'],
    bulk_change_members: ['30 d'],
    daily_counts: ['749 d'],
    hourly_counts: ['31 d'],
    passkey_challenges: ['-1 d', '0.9 d'],
    provider_states: ['-1 d', '0.9 d'],
    email_changes: ['-7 d', '29 d'],
    device_grants: ['-1 d', '29 d'],
    setup_links: ['-1 d', '29 d'],
    oauth_clients: ['of the application', '-1 d', '29 d'],
    oauth_assertions: ['-1 d'],
    oauth_codes: ['-1 d', '0.9 d'],
    oauth_grants: ['-1 d', '29 d'],
    oauth_refresh_tokens: ['-1 d', '29 d'],
    signing_keys: ['-1 d', '399 d'],
    retired_key_tokens: ['1 d', '89 d'],
  };

  test.each(Object.entries(KEPT))('of %s deletes exactly the rows past their period', (table, kept) => {
    const column = NAMED_BY[table] ?? (UNNAMED.includes(table) ? HASHED[table]?.[0] : 'id');
    const left = idsOf(scene.instance, table, column).map((id) =>
      id instanceof Uint8Array ? Buffer.from(id).toString() : (id as string | number),
    );
    expect(left.sort()).toEqual([...kept].sort());
  });

  test('is tested here for every table with a retention period', () => {
    const swept = Object.keys(RETENTION_RULES).filter(
      (table) => 'sweeps' in (RETENTION_RULES[table] ?? {}) && table !== 'deliveries',
    );
    expect(Object.keys(KEPT).sort()).toEqual(swept.sort());
  });

  test('never deletes people, applications, keys, webhooks or workspaces', async () => {
    const { instance, run } = await setUp();
    const before = ['users', 'application_users', 'applications', 'api_keys', 'webhooks', 'workspaces'].map((table) =>
      idsOf(instance, table),
    );
    instance.clock.advance(4000 * DAY);
    await run();
    const after = ['users', 'application_users', 'applications', 'api_keys', 'webhooks', 'workspaces'].map((table) =>
      idsOf(instance, table),
    );
    expect(after).toEqual(before);
  });
});

describe('retention of events', () => {
  test('deletes a delivery with its attempts, and the event in the same run', async () => {
    const scene = await setUp();
    addEvent(scene, 'old', 31 * DAY, [
      { id: 'old delivered', ageMs: 31 * DAY, status: 'delivered' },
      { id: 'old failed', ageMs: 31 * DAY, status: 'failed' },
    ]);
    addEvent(scene, 'recent', 29 * DAY, [{ id: 'recent delivered', ageMs: 29 * DAY, status: 'delivered' }]);
    addEvent(scene, 'old, nobody subscribed', 31 * DAY);
    addEvent(scene, 'recent, nobody subscribed', 29 * DAY);
    await scene.run();
    expect(idsOf(scene.instance, 'deliveries')).toEqual(['recent delivered']);
    expect(idsOf(scene.instance, 'delivery_attempts', 'delivery_id')).toEqual(['recent delivered']);
    expect(idsOf(scene.instance, 'events')).toEqual(['recent', 'recent, nobody subscribed']);
  });

  test.each(['pending', 'held'])(
    'keeps an event of any age, with its attempts, while a delivery is %s',
    async (status) => {
      const scene = await setUp();
      addEvent(scene, 'old', 90 * DAY, [
        { id: 'over', ageMs: 90 * DAY, status: 'delivered' },
        { id: 'unfinished', ageMs: 90 * DAY, status },
      ]);
      await scene.run();
      expect(idsOf(scene.instance, 'deliveries')).toEqual(['unfinished']);
      expect(idsOf(scene.instance, 'delivery_attempts', 'delivery_id')).toEqual(['unfinished']);
      expect(idsOf(scene.instance, 'events')).toEqual(['old']);
      // Once the delivery is finished, both are deleted. SQL sets a finish time in the past.
      scene.instance.sqlite.run("UPDATE deliveries SET status = 'delivered', finished_at = created_at");
      await scene.run();
      expect([idsOf(scene.instance, 'deliveries'), idsOf(scene.instance, 'events')]).toEqual([[], []]);
    },
  );

  test('keeps an old event that was redelivered recently', async () => {
    const scene = await setUp();
    addEvent(scene, 'old', 40 * DAY, [
      { id: 'first', ageMs: 40 * DAY, status: 'delivered' },
      { id: 'again', ageMs: DAY, status: 'delivered' },
    ]);
    await scene.run();
    expect([idsOf(scene.instance, 'deliveries'), idsOf(scene.instance, 'events')]).toEqual([['again'], ['old']]);
  });

  test('keeps an attempt for thirty days after it was made, even if its event was held for longer', async () => {
    const scene = await setUp();
    addEvent(scene, 'held for long', 40 * DAY, [
      { id: 'released yesterday', ageMs: 40 * DAY, status: 'delivered', finishedMsAgo: DAY },
    ]);
    await scene.run();
    expect(idsOf(scene.instance, 'delivery_attempts', 'delivery_id')).toEqual(['released yesterday']);
    scene.instance.clock.advance(30 * DAY);
    await scene.run();
    expect(idsOf(scene.instance, 'delivery_attempts', 'delivery_id')).toEqual([]);
  });
});

/** Wraps a database to collect the SQL of its write statements. */
function watch({ db }: Instance): { statements: ReadonlySet<string>; watched: Database } {
  const statements = new Set<string>();
  const watching = ({ [CONNECTION]: connection, ...unit }: Unit): Unit => ({
    ...unit,
    [CONNECTION]: {
      ...connection,
      changes: (bound, scope) => (statements.add(bound.compiled.sql), connection.changes(bound, scope)),
    },
  });
  return { statements, watched: { ...db, write: (actor, work) => db.write(actor, (unit) => work(watching(unit))) } };
}

describe('retention of many rows', () => {
  test('deletes all of them in batches of at most 500, and lets other work run between batches', async () => {
    const { instance, insert, ago, run } = await setUp();
    const count = () => idsOf(instance, 'audit_records').length;
    instance.sqlite.transaction(() => {
      for (let at = 0; at < 1700; at += 1) insert('audit_records', { id: `a${at}`, created_at: ago(400 * DAY) });
    })();
    let isDone = false;
    const running = run().then(() => void (isDone = true));
    const seen: number[] = [];
    while (!isDone) {
      seen.push(count());
      await Bun.sleep(0);
    }
    await running;
    expect(count()).toBe(0);
    expect(seen.filter((left) => left > 0).length).toBeGreaterThanOrEqual(2);
    expect(seen.every((left, at) => at === 0 || seen[at - 1]! - left <= 500)).toBe(true);
  });

  test('scans no table', async () => {
    const { instance, applicationId, insert, ago } = await setUp();
    /** Returns one value for each parameter. */
    const valuesOf = (sql: string) => [...new Set(sql.match(/\?\d/g))].map(() => 1);
    const { sqlite, clock } = instance;
    const { statements, watched } = watch(instance);
    addEvent({ instance, applicationId, insert, ago } as Scene, 'old', 31 * DAY);
    await retentionJob({ db: watched, clock, auditDays: 365 }).runOnce();
    expect(statements.size).toBeGreaterThan(5);
    const scans = [...statements].flatMap((sql) =>
      (sqlite.query(`EXPLAIN QUERY PLAN ${sql}`).all(...valuesOf(sql)) as { detail: string }[])
        .map(({ detail }) => detail)
        // A scan of a subquery's few hundred row ids is not a table scan.
        .filter((detail) => /^SCAN \w+$/.test(detail)),
    );
    expect(scans).toEqual([]);
  });
});
