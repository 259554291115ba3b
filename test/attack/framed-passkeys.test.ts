/** Passkey ceremonies in a page framed by another site: their signatures are refused. */
import { expect, test } from 'bun:test';
import { createInstance } from '../support/instance.ts';
import { problemOf, register, signInWith } from '../modules/passkeys/passkeys.ts';

const EVIL = 'https://evil.example';

const FRAMED = [
  ['says so', { crossOrigin: true }],
  ['names the page around it', { crossOrigin: true, topOrigin: EVIL }],
  ['names the page around it alone', { topOrigin: EVIL }],
  ['names our own page around it', { crossOrigin: true, topOrigin: 'http://localhost:8080' }],
  ['says so in other words', { crossOrigin: 'true' }],
] as const;

async function setUp() {
  const instance = await createInstance();
  const { clientId, id } = await instance.createApplication();
  const ada = await instance.signIn(clientId, 'ada@example.com');
  return { instance, clientId, id, ada };
}

test.each(FRAMED)('an assertion whose client data %s signs nobody in', async (_, claims) => {
  const { instance, clientId, id, ada } = await setUp();
  const { passkey } = await register(instance, ada.token);
  const sessions = () => instance.sqlite.query('SELECT count(*) AS n FROM sessions').get();
  const before = sessions();
  expect(problemOf(await signInWith(instance, clientId, passkey, claims))).toEqual([400, 'passkey_invalid']);
  expect(sessions()).toEqual(before);
  expect(instance.auditKinds(id).at(-1)).toBe('signin.refused');
});

test.each(FRAMED)('a registration whose client data %s creates no passkey', async (_, claims) => {
  const { instance, ada } = await setUp();
  expect(problemOf(await register(instance, ada.token, { claims }))).toEqual([400, 'passkey_invalid']);
  expect(instance.sqlite.query('SELECT count(*) AS n FROM passkeys').get()).toEqual({ n: 0 });
});

test('client data without frame information, as older browsers send it, is accepted', async () => {
  const { instance, clientId, ada } = await setUp();
  const { passkey, status } = await register(instance, ada.token, { claims: { crossOrigin: null } });
  expect(status).toBe(200);
  expect((await signInWith(instance, clientId, passkey, { crossOrigin: null })).status).toBe(200);
});
