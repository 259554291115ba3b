/** The account page lists the same consequences of closing an account in every language as the API in English. */
import { expect, test } from 'bun:test';
import { textsFor } from '@/i18n/catalogue.ts';
import { createInstance } from '../support/instance.ts';

test('the page’s consequences of closing an account match the API’s, one by one', async () => {
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
  // The page combines two sentences, since it has less room than a mail.
  const both = `${records.slice(0, -1)}; ${mails[0].toLowerCase()}${mails.slice(1)}`;
  expect([email, memberships, both, elsewhere]).toEqual([
    text('account.close.kept1'),
    text('account.close.kept2'),
    text('account.close.kept3', { days: data.recordDays }),
    text('account.close.kept4'),
  ]);
  expect(data.recordDays).toBe(400);
});
