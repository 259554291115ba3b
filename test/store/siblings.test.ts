/** Instances on one database see each other's changes at once. */
import { expect, test } from 'bun:test';
import * as given from '../support/given.ts';
import { createInstance } from '../support/instance.ts';

test('a session of one instance is valid at the other, until it is ended at either', async () => {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const { token, userId } = await instance.signIn(application.clientId, 'ada@example.com');
  const other = await instance.sibling();
  const answers = () =>
    Promise.all([instance, other].map(async (each) => (await each.call('POST', '/api/v1/session', { token })).status));
  expect(await answers()).toEqual([200, 200]);
  await given.member(other, application.id, userId, { status: 'banned' });
  expect(await answers()).toEqual([403, 403]);
});
