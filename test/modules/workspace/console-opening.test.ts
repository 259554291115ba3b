import { expect, test } from 'bun:test';
import type { Opening } from '../../../src/console/opening.ts';
import type { Instance } from '../../support/instance.ts';
import { setUpPeople } from './people.ts';

/** Returns the records in the console's document. */
async function openedWith(instance: Instance, cookie: string): Promise<Opening | 'sign-in page'> {
  const { status, headers, text: html } = await instance.call('GET', '/console', { headers: { cookie } });
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
  if (!html.includes('/assets/console.')) return 'sign-in page';
  const [, json = ''] = /<script type="application\/json" id="page-data">(.*?)<\/script>/s.exec(html) ?? [];
  return JSON.parse(json) as Opening;
}

test('the console opens with the very records that its calls answer, within the rights of its reader', async () => {
  const { instance, owner, member } = await setUpPeople();
  const created = await instance.call('POST', '/api/applications', {
    token: owner.token,
    body: { name: '</script><b>' },
  });
  expect(created.status).toBe(200);
  await instance.call('POST', '/api/workspaces', { token: owner.token, body: { name: 'Of the owner alone' } });
  for (const { token } of [owner, member]) {
    const dataOf = async (path: string) => (await instance.call('GET', path, { token })).json.data;
    expect(await openedWith(instance, `gatehouse=${token}`)).toEqual({
      account: await dataOf('/api/account'),
      workspaces: (await dataOf('/api/workspaces')).items,
      applications: (await dataOf('/api/applications?include=hidden&limit=200')).items,
    });
  }
});

test('without a session of the console the document is the sign-in page', async () => {
  const { instance, owner } = await setUpPeople();
  const { clientId } = await instance.createApplication();
  const { token } = await instance.signIn(clientId, owner.email);
  expect(await openedWith(instance, `gatehouse=${token}`)).toBe('sign-in page');
  expect(await openedWith(instance, '')).toBe('sign-in page');
  await instance.call('DELETE', '/api/v1/session', { token: owner.token });
  expect(await openedWith(instance, `gatehouse=${owner.token}`)).toBe('sign-in page');
});
