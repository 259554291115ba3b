/** Parts and fields of the account page that an application shows. */
import { expect, test } from 'bun:test';
import { ACCOUNT_FIELDS, ACCOUNT_PARTS, accountView, OPTIONAL_PARTS } from '@/core/account-view.ts';

test('everything is shown by default', () => {
  expect(accountView({ hiddenAccountParts: null, hiddenAccountFields: null })).toEqual({
    parts: [...ACCOUNT_PARTS],
    fields: [...ACCOUNT_FIELDS],
  });
});

test('sign-in, devices and data cannot be hidden', () => {
  const all = { hiddenAccountParts: [...OPTIONAL_PARTS], hiddenAccountFields: [...ACCOUNT_FIELDS] };
  expect(accountView(all)).toEqual({ parts: ['sign-in', 'devices', 'data'], fields: [] });
});

test('a part goes with the last of its fields', () => {
  const { parts } = accountView({ hiddenAccountParts: [], hiddenAccountFields: ['addresses', 'entities'] });
  expect(parts).not.toContain('addresses');
  const half = accountView({ hiddenAccountParts: [], hiddenAccountFields: ['addresses'] });
  expect(half.parts).toContain('addresses');
});
