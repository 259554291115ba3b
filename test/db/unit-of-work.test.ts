import { Database as SqliteDatabase } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { type Actor, SYSTEM_ACTOR } from '@/core/actor.ts';
import type { Clock } from '@/core/clock.ts';
import { migrate } from '@/db/migrate.ts';
import { createDatabase, type Unit } from '@/db/unit-of-work.ts';
import { workspaces } from '@/db/schema/workspaces.ts';

const NOW = Date.parse('2026-03-02T12:00:00.000Z');
const TABLES = ['workspaces', 'audit_records', 'events', 'mails'];

/** Each look at this clock is a millisecond later than the one before. */
function ticking(): Clock {
  let now = NOW;
  return { now: () => now++ };
}

function open(clock: Clock = { now: () => NOW }) {
  const sqlite = new SqliteDatabase(':memory:', { strict: true });
  sqlite.run('PRAGMA foreign_keys = ON');
  migrate(sqlite, ':memory:');
  const db = createDatabase(sqlite, clock);
  sqlite.run(`INSERT INTO applications (id, client_id, slug, name, stage, signin_gate, beta_request_policy,
    session_ttl_seconds, return_urls, created_at, updated_at)
    VALUES ('app_1', 'c', 's', 'n', 'live', 'public', 'manual', 300, '[]', 1, 1)`);
  const count = () =>
    Object.fromEntries(
      TABLES.map((table) => [table, (sqlite.query(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n]),
    );
  const woken: string[] = [];
  db.onCommit('mail', () => void woken.push('mail'));
  db.onCommit('events', () => void woken.push('event'));
  return { db, sqlite, count, woken };
}

const mail = { to: 'ada@example.com', subject: 's', text: 't', html: 'h', code: null, expiresAt: NOW + 1 };

function writeOneOfEach(unit: Unit): void {
  unit.tx
    .insert(workspaces)
    .values({ id: `wsp_${unit.now}`, name: 'W', createdAt: unit.now })
    .run();
  unit.audit({ kind: 'workspace.created', workspaceId: 'wsp_1' });
  unit.emit({ type: 'user.reactivated', applicationId: 'app_1', data: { userId: 'usr_1' } });
  unit.mail(mail);
}

const NOTHING = { workspaces: 0, audit_records: 0, events: 0, mails: 0 };
const ONE_OF_EACH = { workspaces: 1, audit_records: 1, events: 1, mails: 1 };

describe('a unit of work', () => {
  test('commits the change, its audit record, event and mail together and gives its result', () => {
    const { db, sqlite, count } = open();
    const result = db.write(SYSTEM_ACTOR, (unit) => {
      writeOneOfEach(unit);
      return 'done';
    });
    expect([result, count(), sqlite.inTransaction]).toEqual(['done', ONE_OF_EACH, false]);
  });

  test('rolls all of it back when it throws, wakes nobody and can be used again', () => {
    const { db, sqlite, count, woken } = open();
    const failure = new Error('after everything was written');
    expect(() =>
      db.write(SYSTEM_ACTOR, (unit) => {
        writeOneOfEach(unit);
        throw failure;
      }),
    ).toThrow(failure);
    expect([count(), sqlite.inTransaction, woken]).toEqual([NOTHING, false, []]);
    db.write(SYSTEM_ACTOR, writeOneOfEach);
    expect(count()).toEqual(ONE_OF_EACH);
  });

  test('rolls back when a constraint refuses its last row', () => {
    const { db, count, woken } = open();
    expect(() =>
      db.write(SYSTEM_ACTOR, (unit) => {
        writeOneOfEach(unit);
        unit.emit({ type: 'user.reactivated', applicationId: 'app_unknown', data: { userId: 'usr_1' } });
      }),
    ).toThrow('FOREIGN KEY');
    expect([count(), woken]).toEqual([NOTHING, []]);
  });

  test('refuses a promise: nothing of an asynchronous callback is kept', () => {
    const { db, sqlite, count, woken } = open();
    const asynchronous = (async (unit: Unit) => writeOneOfEach(unit)) as unknown as (unit: Unit) => void;
    expect(() => db.write(SYSTEM_ACTOR, asynchronous)).toThrow('synchronous');
    expect([count(), sqlite.inTransaction, woken]).toEqual([NOTHING, false, []]);
  });

  test('refuses whatever can be awaited, such as a query that was built and not run', () => {
    const { db, count } = open();
    const unfinished = ((unit: Unit) => {
      writeOneOfEach(unit);
      return unit.tx.select().from(workspaces);
    }) as unknown as (unit: Unit) => void;
    expect(() => void db.write(SYSTEM_ACTOR, unfinished)).toThrow('synchronous');
    expect(count()).toEqual(NOTHING);
  });

  test('refuses to be opened inside another, which is rolled back with it', () => {
    const { db, count } = open();
    expect(() =>
      db.write(SYSTEM_ACTOR, (unit) => {
        writeOneOfEach(unit);
        db.write(SYSTEM_ACTOR, () => {});
      }),
    ).toThrow('inside another');
    expect(count()).toEqual(NOTHING);
  });

  test('has one time for every row, however long it takes', () => {
    const { db, sqlite } = open(ticking());
    const seen = db.write(SYSTEM_ACTOR, (unit) => {
      writeOneOfEach(unit);
      return unit.now;
    });
    for (const table of TABLES)
      expect(sqlite.query(`SELECT created_at FROM ${table}`).get()).toEqual({ created_at: seen });
    const later = db.write(SYSTEM_ACTOR, (unit) => unit.now);
    expect(later).toBe(seen + 1);
  });

  test('records the actor with every audit entry', () => {
    const { db, sqlite } = open();
    const actor: Actor = {
      type: 'key',
      userId: 'usr_9',
      apiKeyId: 'key_9',
      requestId: 'req_9',
      ip: '203.0.113.9',
      ipCountry: 'CH',
    };
    db.write(actor, (unit) =>
      unit.audit({
        kind: 'signin.refused',
        ok: false,
        userId: 'usr_1',
        email: 'a@b.ch',
        detail: { reason: 'waitlist' },
      }),
    );
    expect(sqlite.query('SELECT * FROM audit_records').get()).toEqual({
      id: expect.stringMatching(/^aud_/),
      application_id: null,
      workspace_id: null,
      kind: 'signin.refused',
      family: 'signin',
      ok: 0,
      user_id: 'usr_1',
      email: 'a@b.ch',
      actor_type: 'key',
      actor_user_id: 'usr_9',
      actor_api_key_id: 'key_9',
      target_id: null,
      request_id: 'req_9',
      ip: '203.0.113.9',
      ip_country: 'CH',
      detail: '{"reason":"waitlist"}',
      created_at: NOW,
    });
  });

  test('queues a mail that is due at once and not yet tried', () => {
    const { db, sqlite } = open();
    db.write(SYSTEM_ACTOR, (unit) => unit.mail(mail));
    expect(
      sqlite.query('SELECT status, attempts, next_attempt_at AS due, leased_until AS lease FROM mails').get(),
    ).toEqual({ status: 'queued', attempts: 0, due: NOW, lease: null });
  });
});

describe('who waits for rows', () => {
  test('is woken once per topic, after the commit, and finds the rows there', () => {
    const { db, sqlite, count, woken } = open();
    const found: unknown[] = [];
    db.onCommit('mail', () => void found.push([sqlite.inTransaction, count()]));
    db.write(SYSTEM_ACTOR, (unit) => {
      writeOneOfEach(unit);
      unit.mail(mail);
      expect(woken).toEqual([]);
    });
    expect(woken.toSorted()).toEqual(['event', 'mail']);
    expect(found).toEqual([[false, { ...ONE_OF_EACH, mails: 2 }]]);
  });

  test('is left alone by a change that wrote nothing for them', () => {
    const { db, woken } = open();
    db.write(SYSTEM_ACTOR, (unit) => unit.audit({ kind: 'workspace.created' }));
    expect(woken).toEqual([]);
    db.write(SYSTEM_ACTOR, (unit) => unit.mail(mail));
    expect(woken).toEqual(['mail']);
  });

  test('may write in turn', () => {
    const { db, count } = open();
    db.onCommit('events', () => db.write(SYSTEM_ACTOR, (unit) => unit.audit({ kind: 'workspace.created' })));
    db.write(SYSTEM_ACTOR, writeOneOfEach);
    expect(count()['audit_records']).toBe(2);
  });
});
