/** A packed row is the same row once unpacked. */
import { expect, test } from 'bun:test';
import { RowPacker } from '@/db/packed-row.ts';

const COLUMNS = 70;

/** Values of every kind, with other nulls in each row. */
function row(index: number): Record<string, string | number | boolean | null> {
  const values = [null, 0, -1, 1.5, 1_790_000_000_000, true, false, '', 'Zoë 東 "\\\n', '[1,null]'];
  return Object.fromEntries(
    Array.from({ length: COLUMNS }, (_, at) => [`c${at}`, values[(at * 7 + index) % values.length] as null]),
  );
}

test('rows of any values and many columns are unpacked as they were, in the order of their columns', () => {
  const packer = new RowPacker([]);
  for (let index = 0; index < 20; index += 1) {
    const unpacked = packer.unpack(packer.pack(row(index)));
    expect(unpacked).toEqual(row(index));
    expect(Object.keys(unpacked)).toEqual(Object.keys(row(index)));
  }
});

test('a shared value is kept once; the ten thousandth and later ones are kept with their rows', () => {
  const packer = new RowPacker(['roles']);
  const rows = Array.from({ length: 10_100 }, (_, index) => ({ id: index, roles: `role ${index} ${'x'.repeat(50)}` }));
  const packed = [...rows, ...rows].map((each) => packer.pack(each));
  expect(packed.map((text) => packer.unpack(text))).toEqual([...rows, ...rows]);
  expect([0, 9999, 10_000].map((index) => packed[index]!.length > 50)).toEqual([false, false, true]);
  expect(packer.unpack(packer.pack({ id: 1, roles: null }))).toEqual({ id: 1, roles: null });
});
