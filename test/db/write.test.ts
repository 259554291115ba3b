import { describe, expect, test } from 'bun:test';
import { type Actor, SYSTEM_ACTOR } from '@/core/actor.ts';
import type { Clock } from '@/core/clock.ts';
import type { Unit } from '@/db/database.ts';
import { orm } from '@/db/statements.ts';
import { emit } from '@/events/emit.ts';
import { recordAudit } from '@/store/audit.ts';
import { EVENT_EMITTED } from '@/store/events.ts';
import { MAIL_QUEUED, queueMail } from '@/store/mails.ts';
import { workspaces } from '@/store/schema/workspaces.ts';
import { openTestDatabase } from '../support/database.ts';

const NOW = Date.parse('2026-03-02T12:00:00.000Z');
const TABLES = ['workspaces', 'audit_records', 'events', 'mails'];

/** A clock that advances a millisecond at each reading. */
function ticking(): Clock {
  let now = NOW;
  return { now: () => now++ };
}

async function open(clock: Clock = { now: () => NOW }) {
  const { db, sqlite } = await openTestDatabase(clock);
  sqlite.run(`INSERT INTO applications (id, client_id, slug, name, stage, signin_gate, beta_request_policy,
    session_ttl_seconds, return_urls, created_at, updated_at)
    VALUES ('app_1', 'c', 's', 'n', 'live', 'public', 'manual', 300, '[]', 1, 1)`);
  const count = () =>
    Object.fromEntries(
      TABLES.map((table) => [table, (sqlite.query(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n]),
    );
  const woken: string[] = [];
  db.onCommit(MAIL_QUEUED, () => void woken.push('mail'));
  db.onCommit(EVENT_EMITTED, () => void woken.push('event'));
  return { db, sqlite, count, woken };
}

const mail = {
  to: 'ada@example.com',
  subject: 's',
  text: 't',
  html: 'h',
  code: null,
  expiresAt: NOW + 1,
  origin: { applicationId: null, workspaceId: null },
};

const insertWorkspace = (unit: Unit) =>
  orm(unit)
    .insert(workspaces)
    .values({ id: `wsp_${unit.now}`, name: 'W', createdAt: unit.now });

async function writeOneOfEach(unit: Unit): Promise<void> {
  await insertWorkspace(unit);
  await recordAudit(unit, { kind: 'workspace.created', workspaceId: 'wsp_1' });
  await emit(unit, { type: 'user.reactivated', applicationId: 'app_1', data: { userId: 'usr_1' } });
  await queueMail(unit, mail);
}

const audit = (unit: Unit) => recordAudit(unit, { kind: 'workspace.created' });

const NOTHING = { workspaces: 0, audit_records: 0, events: 0, mails: 0 };
const ONE_OF_EACH = { workspaces: 1, audit_records: 1, events: 1, mails: 1 };

describe('a change', () => {
  test('commits rows, audit record, event and mail together and returns its result', async () => {
    const { db, count } = await open();
    const result = await db.write(SYSTEM_ACTOR, async (unit) => {
      await writeOneOfEach(unit);
      return 'done';
    });
    expect([result, count()]).toEqual(['done', ONE_OF_EACH]);
  });

  test('rolls all of it back if it throws, notifies nobody and leaves the database usable', async () => {
    const { db, count, woken } = await open();
    const failure = new Error('after everything was written');
    const failing = db.write(SYSTEM_ACTOR, async (unit) => {
      await writeOneOfEach(unit);
      throw failure;
    });
    await expect(failing).rejects.toThrow(failure);
    expect([count(), woken]).toEqual([NOTHING, []]);
    await db.write(SYSTEM_ACTOR, writeOneOfEach);
    expect(count()).toEqual(ONE_OF_EACH);
  });

  test('rolls back if a constraint refuses its last row', async () => {
    const { db, count, woken } = await open();
    const refused = db.write(SYSTEM_ACTOR, async (unit) => {
      await writeOneOfEach(unit);
      await emit(unit, { type: 'user.reactivated', applicationId: 'app_unknown', data: { userId: 'usr_1' } });
    });
    await expect(refused).rejects.toThrow(/foreign key/i);
    expect([count(), woken]).toEqual([NOTHING, []]);
  });

  test('sees its own rows, and others see them only after the commit', async () => {
    const { db } = await open();
    const rows = (reader: Parameters<typeof orm>[0]) => orm(reader).select().from(workspaces);
    const [inside, outside] = await db.write(SYSTEM_ACTOR, async (unit) => {
      await insertWorkspace(unit);
      return [(await rows(unit)).length, (await rows(db.reader)).length];
    });
    expect([inside, outside, (await rows(db.reader)).length]).toEqual([1, 0, 1]);
  });

  test('runs alone in the order of the calls, however many are concurrent', async () => {
    const { db } = await open();
    const steps: string[] = [];
    await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        db.write(SYSTEM_ACTOR, async (unit) => {
          steps.push(`${name} begins`);
          await audit(unit);
          await audit(unit);
          steps.push(`${name} ends`);
        }),
      ),
    );
    expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  test('refuses a statement that was not awaited, and keeps nothing', async () => {
    const { db, count, woken } = await open();
    const careless = db.write(SYSTEM_ACTOR, async (unit) => {
      await writeOneOfEach(unit);
      (async () => {
        for (let index = 0; index < 5; index += 1) await audit(unit);
      })().catch(() => {});
    });
    await expect(careless).rejects.toThrow('awaited');
    expect([count(), woken]).toEqual([NOTHING, []]);
  });

  test('refuses a change that was built and not awaited, which would never run', async () => {
    const { db, count } = await open();
    const careless = db.write(SYSTEM_ACTOR, async (unit) => {
      await audit(unit);
      void insertWorkspace(unit);
    });
    await expect(careless).rejects.toThrow('did not await');
    expect(count()).toEqual(NOTHING);
  });

  test('cannot be used after its end', async () => {
    const { db, count } = await open();
    let kept: Unit | undefined;
    await db.write(SYSTEM_ACTOR, async (unit) => {
      kept = unit;
    });
    expect(() => orm(kept!)).toThrow('after its end');
    // Not even during another change, which its statements would join.
    await db.write(SYSTEM_ACTOR, async (unit) => {
      await audit(unit);
      expect(() => orm(kept!)).toThrow('after its end');
    });
    expect(count()['audit_records']).toBe(1);
  });

  test('refuses another one inside itself and is rolled back instead of deadlocking', async () => {
    const { db, count } = await open();
    const nested = db.write(SYSTEM_ACTOR, async (unit) => {
      await writeOneOfEach(unit);
      await db.write(SYSTEM_ACTOR, audit);
    });
    await expect(nested).rejects.toThrow('a write inside it');
    // The inner one was a separate change in the queue.
    await db.write(SYSTEM_ACTOR, async () => {});
    expect(count()).toEqual({ ...NOTHING, audit_records: 1 });
  });

  test('refuses to wait for anything but its own statements, so that it delays nobody', async () => {
    const { db, count } = await open();
    const slow = db.write(SYSTEM_ACTOR, async (unit) => {
      await writeOneOfEach(unit);
      await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
    });
    await expect(slow).rejects.toThrow('waited for something else');
    expect(count()).toEqual(NOTHING);
  });

  test('has one time for every row, however long it takes', async () => {
    const { db, sqlite } = await open(ticking());
    const seen = await db.write(SYSTEM_ACTOR, async (unit) => {
      await writeOneOfEach(unit);
      return unit.now;
    });
    for (const table of TABLES)
      expect(sqlite.query(`SELECT created_at FROM ${table}`).get()).toEqual({ created_at: seen });
    const later = await db.write(SYSTEM_ACTOR, async (unit) => unit.now);
    expect(later).toBe(seen + 1);
  });

  test('records the actor with every audit entry', async () => {
    const { db, sqlite } = await open();
    const actor: Actor = {
      type: 'key',
      userId: 'usr_9',
      apiKeyId: 'key_9',
      requestId: 'req_9',
      ip: '203.0.113.9',
      ipCountry: 'CH',
    };
    await db.write(actor, (unit) =>
      recordAudit(unit, {
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

  test('queues a mail that is due at once and has no attempt', async () => {
    const { db, sqlite } = await open();
    await db.write(SYSTEM_ACTOR, (unit) => queueMail(unit, mail));
    expect(
      sqlite.query('SELECT status, attempts, next_attempt_at AS due, leased_until AS lease FROM mails').get(),
    ).toEqual({ status: 'queued', attempts: 0, due: NOW, lease: null });
  });
});

describe('a write lock of another process', () => {
  test('is waited for off the event loop: reads and timers continue, and the change succeeds in the end', async () => {
    const { db, sqlite, count } = await open();
    sqlite.run('BEGIN IMMEDIATE');
    const waiting = db.write(SYSTEM_ACTOR, audit);
    // The event loop turns while the lock is held.
    await new Promise((resolve) => setImmediate(resolve));
    expect(await orm(db.reader).select().from(workspaces)).toEqual([]);
    sqlite.run('COMMIT');
    await waiting;
    expect(count()['audit_records']).toBe(1);
  });
});

describe('a listener for rows', () => {
  test('is notified once per topic, after the commit, and finds the rows', async () => {
    const { db, count, woken } = await open();
    const found: unknown[] = [];
    db.onCommit(MAIL_QUEUED, (lanes) => void found.push([lanes, count()]));
    await db.write(SYSTEM_ACTOR, async (unit) => {
      await writeOneOfEach(unit);
      await queueMail(unit, mail);
      expect(woken).toEqual([]);
    });
    expect(woken.toSorted()).toEqual(['event', 'mail']);
    expect(found).toEqual([[['notice', 'notice'], { ...ONE_OF_EACH, mails: 2 }]]);
  });

  test('is not notified of a change without its rows', async () => {
    const { db, woken } = await open();
    await db.write(SYSTEM_ACTOR, audit);
    expect(woken).toEqual([]);
    await db.write(SYSTEM_ACTOR, (unit) => queueMail(unit, mail));
    expect(woken).toEqual(['mail']);
  });

  test('may write too', async () => {
    const { db, count } = await open();
    const inTurn = Promise.withResolvers<string>();
    db.onCommit(EVENT_EMITTED, () => void db.write(SYSTEM_ACTOR, audit).then(inTurn.resolve));
    await db.write(SYSTEM_ACTOR, writeOneOfEach);
    await inTurn.promise;
    expect(count()['audit_records']).toBe(2);
  });
});
