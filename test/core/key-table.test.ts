/** A key table returns what a Map of the same keys does. */
import { expect, test } from 'bun:test';
import { ask, KeyTable } from '@/core/key-table.ts';

const hashed = (index: number) => Bun.SHA256.hash(String(index)) as Uint8Array;

test('each key has its entry while others are added and removed, of two that differ in one byte too', () => {
  const table = new KeyTable();
  const expected = new Map<number, number>();
  const free: number[] = [];
  const keys = Array.from({ length: 4000 }, (_, index) => {
    const key = hashed(index >> 1);
    if (index % 2 === 1) key[index % 32] = (key[index % 32] as number) ^ 1;
    return key;
  });
  let state = 7;
  const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
  for (let turn = 0; turn < 30_000; turn += 1) {
    const index = random(keys.length);
    const known = expected.get(index);
    const hash = ask(keys[index]!);
    expect(table.find(hash)).toBe(known ?? -1);
    if (known === undefined) {
      const entry = free.pop() ?? expected.size;
      table.add(hash, entry);
      expected.set(index, entry);
    } else if (random(3) === 0) {
      table.remove(known);
      expected.delete(index);
      free.push(known);
    }
  }
  for (const [index, key] of keys.entries()) expect(table.find(ask(key))).toBe(expected.get(index) ?? -1);
});

test('a text and its padded bytes are one key; longer keys are refused', () => {
  const table = new KeyTable();
  table.add(ask('rol_1'), 0);
  expect(table.find(ask(new TextEncoder().encode('rol_1')))).toBe(0);
  expect(table.textOf(0)).toBe('rol_1');
  expect(() => ask('x'.repeat(33))).toThrow('a key of more than 32 letters');
});
