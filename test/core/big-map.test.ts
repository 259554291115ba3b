import { expect, test } from 'bun:test';
import { BigMap, partNumberOf } from '@/core/big-map.ts';
import { addressPrefix } from '@/core/ip-address.ts';

test('BigMap behaves like a Map for random changes', () => {
  const [big, plain] = [new BigMap<number>(), new Map<string, number>()];
  let seed = 1;
  const next = (below: number) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % below;
  for (let step = 0; step < 20_000; step += 1) {
    const key = ['', 'a', 'ab', `ses_${next(3000)}`, `key ${next(50)} ß`][next(5)]!;
    if (next(3) === 0) expect(big.delete(key)).toBe(plain.delete(key));
    else [big, plain].forEach((map) => map.set(key, step));
    expect([big.size, big.get(key), big.has(key)]).toEqual([plain.size, plain.get(key), plain.has(key)]);
  }
  expect([...big.keys()].sort()).toEqual([...plain.keys()].sort());
  expect([...big.values()].sort()).toEqual([...plain.values()].sort());
});

test('BigMap distributes keys of any kind evenly among its parts', () => {
  const kinds: Record<string, (index: number) => string> = {
    hashes: (index) => (Bun.SHA256.hash(String(index)) as Uint8Array).toHex(),
    ids: () => `ses_${Bun.randomUUIDv7()}`,
    'addresses of version 4': (index) => `10.${index >>> 16}.${(index >>> 8) & 255}.${index & 255}`,
    'networks of version 6': (index) =>
      addressPrefix(`2001:db8:${(index >>> 8).toString(16)}:${(index & 255).toString(16)}::1`),
  };
  for (const [kind, keyOf] of Object.entries(kinds)) {
    const parts = new Map<number, number>();
    for (let index = 0; index < 65_536; index += 1) {
      const part = partNumberOf(keyOf(index));
      parts.set(part, (parts.get(part) ?? 0) + 1);
    }
    expect({ kind, isSpread: Math.max(...parts.values()) < 65_536 / 8 }).toEqual({ kind, isSpread: true });
  }
});
