import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, MINUTE } from '@/core/clock.ts';
import type { Unit } from '@/db/database.ts';
import { recordAudit } from '@/store/audit.ts';
import { findMember, noteMemberSeen } from '@/store/members.ts';
import { countingReader } from '../../support/database.ts';
import { START } from '../../support/instance.ts';
import { rows, setUp } from './scene.ts';

describe('the counter', () => {
  test('keeps counts for the next flush if a write fails', async () => {
    const { instance, application } = await setUp();
    const { counts } = instance.services;
    const count = (times: number) => {
      for (let time = 0; time < times; time += 1) counts.noteRefusal(application.id, 'keyPerMinute');
    };
    count(2);
    // Renames the table in SQL, so that counters cannot be written.
    instance.sqlite.run('ALTER TABLE daily_counts RENAME TO elsewhere');
    const failing = counts.flush();
    count(3);
    expect(await failing.catch(() => 'failed')).toBe('failed');
    instance.sqlite.run('ALTER TABLE elsewhere RENAME TO daily_counts');
    const [first, second] = [counts.flush(), counts.flush()];
    count(4);
    await Promise.all([first, second]);
    expect(rows(instance, application.id)).toEqual({ 'limit_reached keyPerMinute': 9 });
    await counts.flush();
    expect(rows(instance, application.id)).toEqual({ 'limit_reached keyPerMinute': 9 });
  });

  test('writes very many in batches, without loss, and keeps at most its maximum', async () => {
    const { instance } = await setUp();
    const { counts } = instance.services;
    for (let index = 0; index < 60_000; index += 1) counts.noteRefusal(`app_${index}`, 'keyPerMinute');
    await counts.flush();
    const written = () => instance.sqlite.query('SELECT count(*) AS n FROM daily_counts').get();
    expect(written()).toEqual({ n: 50_000 });
    counts.noteRefusal('app_60000', 'keyPerMinute');
    await counts.flush();
    expect(written()).toEqual({ n: 50_001 });
  });

  test('does not count audit records of bulk changes', async () => {
    const { instance, application } = await setUp();
    await instance.db.write(SYSTEM_ACTOR, async (unit) => {
      for (let index = 0; index < 300; index += 1)
        await recordAudit(unit, { kind: 'user.banned', applicationId: application.id, targetId: `usr_${index}` });
    });
    await instance.services.flushCounters();
    expect(rows(instance, application.id)).toEqual({});
  });

  test('counts each day separately if the clock advances before a write', async () => {
    const { instance, application } = await setUp();
    await instance.signIn(application.clientId, 'ada@example.com');
    instance.clock.advance(DAY);
    await instance.signIn(application.clientId, 'ada@example.com');
    await instance.services.flushCounters();
    const days = instance.sqlite
      .query("SELECT day, count FROM daily_counts WHERE metric = 'sign_in' AND application_id = ? ORDER BY day")
      .all(application.id);
    const today = Date.parse('2026-03-02');
    expect(days).toEqual([
      { day: today, count: 1 },
      { day: today + DAY, count: 1 },
    ]);
  });
});

test('noting a member takes one statement, except the first time on a day', async () => {
  const { instance, application } = await setUp();
  const { userId } = await instance.signIn(application.clientId, 'ada@example.com');
  const { id } = (await findMember(instance.db.reader, application.id, userId))!;
  const statements = (at: number) =>
    instance.db.write(SYSTEM_ACTOR, async (unit) => {
      const { reader, count } = countingReader(unit);
      await noteMemberSeen({ ...reader, now: unit.now, actor: unit.actor, publish: unit.publish } as Unit, id, at);
      return count();
    });
  expect(await statements(START + MINUTE)).toBe(1);
  expect(await statements(START + DAY)).toBe(3);
  expect(await statements(START + DAY + MINUTE)).toBe(1);
});
