import { describe, expect, test } from 'bun:test';
import { AppError } from '@/core/error.ts';
import { decodeCursor, encodeCursor, pageOf } from '@/db/page.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64url');

function refusal(run: () => unknown): string {
  try {
    run();
    return 'accepted';
  } catch (error) {
    return error instanceof AppError ? error.code : `threw ${String(error)}`;
  }
}

describe('a cursor', () => {
  test.each([
    [['app_01h455vb4pex5vsknk084sn02q'], ['string']],
    [
      [1772452800000, 'aud_1'],
      ['number', 'string'],
    ],
    [
      [0, ''],
      ['number', 'string'],
    ],
    [['“ü” 🙂\u0000"\\'], ['string']],
    [[], []],
  ] as [(string | number)[], ('string' | 'number')[]][])('round-trips: %j', (key, shape) => {
    expect(decodeCursor(encodeCursor(key), shape)).toEqual(key as never);
    expect(encodeCursor(key)).toMatch(/^[\w-]*$/);
  });

  test.each([
    [''],
    ['not base64 at all!'],
    ['%00'],
    [base64('')],
    [base64('null')],
    [base64('"app_1"')],
    [base64('{"0":"app_1","length":1}')],
    [base64('[]')],
    [base64('[1]')],
    [base64('[null]')],
    [base64('[["app_1"]]')],
    [base64('[{"toString":"x"}]')],
    [base64('["app_1","app_2"]')],
    [base64('["app_1"')],
    [base64('[true]')],
    ['_w'.repeat(200)],
    [base64('['.repeat(100_000))],
  ])('a hostile cursor is refused as invalid_cursor: %.40j', (cursor) => {
    expect(refusal(() => decodeCursor(cursor, ['string']))).toBe('invalid_cursor');
  });

  test('a cursor with the right parts in the wrong order is refused', () => {
    expect(refusal(() => decodeCursor(encodeCursor(['a', 1]), ['number', 'string']))).toBe('invalid_cursor');
  });
});

describe('pageOf', () => {
  const rows = (count: number) => Array.from({ length: count }, (_, id) => ({ id: `id_${id}` }));
  const cut = (count: number, limit: number) =>
    pageOf(
      rows(count),
      limit,
      ({ id }) => [id],
      ({ id }) => id,
    );

  test('drops the extra row and points at the last one shown', () => {
    const { items, nextCursor } = cut(4, 3);
    expect(items).toEqual(['id_0', 'id_1', 'id_2']);
    expect(decodeCursor(nextCursor!, ['string'])).toEqual(['id_2']);
  });

  test('has no next page if everything fits or nothing is there', () => {
    expect(cut(3, 3)).toEqual({ items: ['id_0', 'id_1', 'id_2'], nextCursor: null });
    expect(cut(0, 3)).toEqual({ items: [], nextCursor: null });
  });
});
