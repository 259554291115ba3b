import { describe, expect, test } from 'bun:test';
import pino from 'pino';
import { DAY, SECOND, type WorldClock } from '@/core/clock.ts';
import { clockWarning, compareClocks } from '@/modules/instances/clock.ts';
import { instanceRegistry } from '@/modules/instances/module.ts';
import { listInstances } from '@/store/instances.ts';
import { openTestDatabase } from '../../support/database.ts';

/** The database's clock is real here, so each instance's clock differs from it by a given time. */
async function open() {
  const { db, sqlite } = await openTestDatabase({ now: () => Date.now() });
  const lines: { msg: string }[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const instance = (leaseHolder: string, aheadMs = 0) => {
    const clock: WorldClock = { now: () => Date.now() + aheadMs, real: () => Date.now() + aheadMs };
    const baseUrl = () => 'https://id.example.com';
    const { start, stop, jobs } = instanceRegistry({
      db,
      clock,
      log,
      leaseHolder,
      baseUrl,
      instance: { version: '1.2.3' },
    });
    return { start: async () => start?.(), stop: async () => stop?.(), renew: async () => jobs?.[0]?.runOnce() };
  };
  return { db, sqlite, lines, instance };
}

describe('the list of instances', () => {
  test('has each that runs, until its clean stop', async () => {
    const { db, instance } = await open();
    const [one, two] = [instance('one'), instance('two')];
    await one.start();
    await two.start();
    const [first, second] = await listInstances(db.reader);
    expect(first).toMatchObject({ id: 'one', version: '1.2.3', baseUrl: 'https://id.example.com' });
    expect(second?.id).toBe('two');
    await one.stop();
    expect((await listInstances(db.reader)).map(({ id }) => id)).toEqual(['two']);
  });

  test('shows when each was last seen by the database’s clock, and keeps a killed one for a day', async () => {
    const { db, sqlite, instance } = await open();
    const [killed, living] = [instance('killed', 5 * DAY), instance('living')];
    await killed.start();
    const [row] = await listInstances(db.reader);
    expect(Math.abs((row?.seenAt ?? 0) - Date.now())).toBeLessThan(5 * SECOND);
    sqlite.run(`UPDATE instances SET seen_at = seen_at - ${DAY - 10 * SECOND}`);
    await living.start();
    expect(await listInstances(db.reader)).toHaveLength(2);
    sqlite.run(`UPDATE instances SET seen_at = seen_at - ${20 * SECOND} WHERE id = 'killed'`);
    await living.renew();
    expect((await listInstances(db.reader)).map(({ id }) => id)).toEqual(['living']);
  });
});

describe('a clock that differs from the database’s', () => {
  test('is measured, and warned of once until it is right', async () => {
    const { db, lines, instance } = await open();
    const ahead = instance('ahead', 3 * SECOND);
    await ahead.start();
    await ahead.renew();
    expect(lines).toHaveLength(1);
    expect(lines[0]?.msg).toMatch(
      /^The clock is 3\.0 s ahead of the database’s; synchronize both machines with NTP\.$/,
    );
    expect((await listInstances(db.reader))[0]?.clockOffsetMs).toBeGreaterThan(2 * SECOND);
    await instance('right').start();
    expect(lines).toHaveLength(1);
  });

  test('is not blamed for the time of the statement', async () => {
    const { db } = await open();
    const times = [Date.now() - 60 * SECOND, Date.now() + 60 * SECOND];
    const { offsetMs } = await compareClocks(db.reader, { real: () => times.shift() ?? 0 });
    expect(Math.abs(offsetMs)).toBe(0);
  });

  test('is tolerated up to a second', () => {
    expect([clockWarning(SECOND), clockWarning(-SECOND)]).toEqual([null, null]);
    expect(clockWarning(-1500)).toBe('The clock is 1.5 s behind the database’s; synchronize both machines with NTP.');
  });
});
