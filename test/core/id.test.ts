import { describe, expect, test } from 'bun:test';
import { TypeID } from 'typeid-js';
import { ID_PREFIXES, type IdKind, idSeries, newId } from '@/core/id.ts';

const KINDS = Object.keys(ID_PREFIXES) as IdKind[];
const NOW = Date.parse('2026-03-02T12:00:00.000Z');

describe('newId', () => {
  test.each(KINDS)('uses the prefix of %s in a TypeID', (kind) => {
    const id = newId(kind, NOW);
    expect(id).toMatch(new RegExp(`^${ID_PREFIXES[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`));
    expect(TypeID.fromString(id).getType()).toBe(ID_PREFIXES[kind]);
  });

  test('contains a UUIDv7 of the given time, not of the system’s', () => {
    const uuid = TypeID.fromString(newId('application', NOW)).toUUID();
    expect(Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16)).toBe(NOW);
    expect(uuid[14]).toBe('7');
    expect('89ab').toContain(uuid[19]!);
  });

  test('hides the creation time of a user', () => {
    const uuids = Array.from({ length: 100 }, () => TypeID.fromString(newId('user', NOW)).toUUID());
    expect(new Set(uuids.map((uuid) => uuid.slice(0, 8))).size).toBeGreaterThan(90);
    for (const uuid of uuids) expect([uuid[14], '89ab'.includes(uuid[19]!)]).toEqual(['4', true]);
  });

  test('sorts by creation, even within one millisecond', () => {
    const ids = Array.from({ length: 3000 }, (_, index) => newId('event', NOW + Math.floor(index / 1000)));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('uses the documented prefixes, each for one kind', () => {
    expect(ID_PREFIXES).toMatchObject({
      application: 'app',
      user: 'usr',
      apiKey: 'key',
      session: 'ses',
      role: 'rol',
      scope: 'scp',
      membershipGroup: 'mgr',
      betaInterest: 'bet',
      event: 'evt',
      audit: 'aud',
      workspace: 'wsp',
      challenge: 'chl',
    });
    expect(new Set(Object.values(ID_PREFIXES)).size).toBe(KINDS.length);
  });
});

describe('idSeries', () => {
  test('returns unique TypeIDs of the given time, any number per millisecond', () => {
    const next = idSeries('request');
    const ids = Array.from({ length: 6000 }, (_, index) => next(NOW + Math.floor(index / 3000)));
    expect(new Set(ids).size).toBe(6000);
    for (const [index, id] of ids.entries()) {
      const uuid = TypeID.fromString(id).toUUID();
      expect(Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16)).toBe(NOW + Math.floor(index / 3000));
      expect([id.startsWith('req_'), uuid[14], '89ab'.includes(uuid[19]!)]).toEqual([true, '7', true]);
    }
  });

  test('starts two series at different values', () => {
    const [one, other] = [idSeries('request'), idSeries('request')];
    expect(one(NOW).slice(0, -2)).not.toBe(other(NOW).slice(0, -2));
  });
});
