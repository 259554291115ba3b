/** How the newest page of a list comes before what is shown already. */
import { expect, test } from 'bun:test';
import { withNewest } from '@/console/newest.ts';

const mails = (...ids: string[]) => ids.map((id) => ({ id }));
const idsOf = (items: readonly { readonly id: string }[] | null) => items?.map(({ id }) => id).join('') ?? null;

test('new mails come first, what is behind the page stays, and nothing is there twice', () => {
  const newest = { items: mails('f', 'e', 'd'), nextCursor: 'next' };
  expect(idsOf(withNewest(mails('d', 'c', 'b', 'a'), newest))).toBe('fedcba');
});

test('what the page shows anew is as the page says', () => {
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

test('a page that is all there is takes away what is gone', () => {
  expect(idsOf(withNewest(mails('c', 'b', 'a'), { items: mails('c', 'b'), nextCursor: null }))).toBe('cb');
  expect(idsOf(withNewest(mails('a'), { items: [], nextCursor: null }))).toBe('');
});

test('where more came than a page holds, the list begins anew', () => {
  const newest = { items: mails('f', 'e'), nextCursor: 'next' };
  expect(withNewest(mails('b', 'a'), newest)).toBeNull();
  expect(withNewest([], newest)).toBeNull();
});
