/** What the account page says in every language about closing an account is what the API says in English. */
import { expect, test } from 'bun:test';
import { textsFor } from '@/i18n/catalogue.ts';
import { createInstance } from '../support/instance.ts';

test('the consequences of closing an account are those that the API lists, one by one', async () => {
  const instance = await createInstance({ environment: { GATEHOUSE_AUDIT_DAYS: '400' } });
  const { clientId } = await instance.createApplication();
  const { token } = await instance.signIn(clientId, 'ada@example.com');
  const { data } = (await instance.call('POST', '/api/account/deletion', { token })).json;
  const text = textsFor('en');
  expect(data.deleted).toEqual([
    text('account.close.deleted1'),
    text('account.close.deleted2'),
    text('account.close.deleted3'),
    text('account.close.deleted4'),
  ]);
  const [email, memberships, records, mails, elsewhere] = data.kept;
  // One sentence on the page, where there is less room than in a mail.
  const both = `${records.slice(0, -1)}; ${mails[0].toLowerCase()}${mails.slice(1)}`;
  expect([email, memberships, both, elsewhere]).toEqual([
    text('account.close.kept1'),
    text('account.close.kept2'),
    text('account.close.kept3', { days: data.recordDays }),
    text('account.close.kept4'),
  ]);
  expect(data.recordDays).toBe(400);
});
