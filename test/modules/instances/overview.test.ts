/** Which instances live, and what their operators are warned of. */
import { expect, test } from 'bun:test';
import { SECOND } from '@/core/clock.ts';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { findInstances, instanceWarnings, type ListedInstance } from '@/modules/instances/overview.ts';
import { noteInstance } from '@/store/instances.ts';
import { openTestDatabase } from '../../support/database.ts';

const ALIVE: ListedInstance = {
  id: 'a',
  version: '1.0.0',
  baseUrl: 'https://auth.example.com',
  host: 'one',
  startedAt: 1,
  seenAt: 1,
  clockOffsetMs: SECOND,
  isAlive: true,
};

test('an instance lives while it was seen within 30 seconds by the clock of the database', async () => {
  const { db } = await openTestDatabase({ now: () => Date.now() });
  const { isAlive: _, ...row } = ALIVE;
  const seen = (id: string, agoMs: number) => ({ ...row, id, seenAt: Date.now() - agoMs, startedAt: agoMs });
  await db.write(SYSTEM_ACTOR, async (unit) => {
    await noteInstance(unit, seen('lately', 10 * SECOND));
    await noteInstance(unit, seen('killed', 40 * SECOND));
  });
  const wrongClock = { real: () => 0 };
  expect((await findInstances(db.reader, wrongClock)).map(({ id, isAlive }) => [id, isAlive])).toEqual([
    ['lately', true],
    ['killed', false],
  ]);
});

test('versions that differ and wrong clocks are warned of, of living instances alone', () => {
  expect(instanceWarnings([ALIVE, { ...ALIVE, id: 'b' }])).toEqual([]);
  expect(instanceWarnings([ALIVE, { ...ALIVE, version: '0.9.0', clockOffsetMs: 90_000, isAlive: false }])).toEqual([]);
  const warnings = instanceWarnings([ALIVE, { ...ALIVE, host: 'two', version: '1.1.0', clockOffsetMs: -2500 }]);
  expect(warnings.map(({ code, message }) => [code, message])).toEqual([
    ['clock_differs', 'Clocks differ: that of two is 2.5 s behind the database’s.'],
    ['versions_differ', '2 versions run on this database: 1.0.0, 1.1.0. A rolling update is under way, or was left.'],
  ]);
});
