import { expect, test } from 'bun:test';
import { newId } from '@/core/id.ts';
import { TimesById } from '@/core/times-by-id.ts';

test('TimesById keeps the last time of each of many ids, and returns every id', () => {
  const times = new TimesById();
  const expected = new Map<string, number>();
  for (let at = 0; at < 20_000; at += 1) {
    const id = newId(at % 2 === 0 ? 'session' : 'applicationUser', 1_700_000_000_000);
    times.set(id, at);
    expected.set(id, at);
  }
  for (const [at, id] of [...expected.keys()].entries()) {
    if (at % 3 !== 0) continue;
    times.set(id, -at);
    expected.set(id, -at);
  }
  expect(times.size).toBe(expected.size);
  for (const [id, time] of expected) expect(times.get(id)).toBe(time);
  expect([...times.ids()].sort()).toEqual([...expected.keys()].sort());
});

test('TimesById accepts ids up to its maximum length, and does not know other ids', () => {
  const times = new TimesById();
  const ids = ['a', 'ab', 'b', 'x'.repeat(31), 'x'.repeat(32), ''];
  for (const [at, id] of ids.entries()) times.set(id, at);
  expect(ids.map((id) => times.get(id))).toEqual([0, 1, 2, 3, 4, 5]);
  expect([...times.ids()].sort()).toEqual(ids.toSorted());
  for (const id of ['c', 'abc', 'x'.repeat(30)]) expect(times.get(id)).toBeUndefined();
  expect(() => times.set('x'.repeat(33), 1)).toThrow('a key of more than 32 letters');
});

test('TimesById is empty at first', () => {
  const times = new TimesById();
  expect([times.size, times.get(newId('session', 1)), [...times.ids()]]).toEqual([0, undefined, []]);
});
