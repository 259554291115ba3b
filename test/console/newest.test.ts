/** Merging the newest page of a list into the rows already shown. */
import { expect, test } from 'bun:test';
import { withNewest } from '@/console/newest.ts';

const mails = (...ids: string[]) => ids.map((id) => ({ id }));
const idsOf = (items: readonly { readonly id: string }[] | null) => items?.map(({ id }) => id).join('') ?? null;

test('new mails come first, rows beyond the page stay, and none is repeated', () => {
  const newest = { items: mails('f', 'e', 'd'), nextCursor: 'next' };
  expect(idsOf(withNewest(mails('d', 'c', 'b', 'a'), newest))).toBe('fedcba');
});

test('rows on the page are updated', () => {
  const known = [
    { id: 'b', status: 'queued' },
    { id: 'a', status: 'sent' },
  ];
  const items = [{ id: 'b', status: 'sent' }];
  expect(withNewest(known, { items, nextCursor: 'next' })).toEqual([
    { id: 'b', status: 'sent' },
    { id: 'a', status: 'sent' },
  ]);
});

test('a page without a successor removes rows that are gone', () => {
  expect(idsOf(withNewest(mails('c', 'b', 'a'), { items: mails('c', 'b'), nextCursor: null }))).toBe('cb');
  expect(idsOf(withNewest(mails('a'), { items: [], nextCursor: null }))).toBe('');
});

test('the list restarts if more rows are new than a page holds', () => {
  const newest = { items: mails('f', 'e'), nextCursor: 'next' };
  expect(withNewest(mails('b', 'a'), newest)).toBeNull();
  expect(withNewest([], newest)).toBeNull();
});
