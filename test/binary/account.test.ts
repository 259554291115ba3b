/** Walks through a person's whole account over HTTP: each operation once, in the order of a life. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import {
  type EphemeralServer,
  type HttpAnswer,
  outboxCode,
  request,
  signIn,
  startEphemeral,
} from '../support/binary.ts';

setDefaultTimeout(120_000);

let server: EphemeralServer;
beforeAll(async () => {
  server = await startEphemeral();
});
afterAll(() => server.stop());

/** Returns the data of a call that must succeed. */
async function ok(answer: Promise<HttpAnswer>) {
  const { status, json } = await answer;
  expect([status, json.error ?? null]).toEqual([200, null]);
  return json.data;
}

/** Signs in again after the cool-down of codes. */
async function signInAgain(email: string) {
  await ok(request(server, 'POST', '/test/clock', { body: { advanceMs: 31_000 } }));
  return signIn(server, email, server.clientId);
}

test('an account is created, changed, exported and deleted', async () => {
  const ada = await signIn(server, 'ada@example.com', server.clientId);
  let { token } = ada;
  const call = (method: string, path: string, body?: unknown) =>
    ok(request(server, method, `/api/account${path}`, { token, body }));
  const envelope = async () => (await request(server, 'POST', '/api/v1/session', { token })).json;

  await call('PATCH', '/profile/identity', { givenName: 'Ada', familyName: 'Lovelace', locale: 'en-GB' });
  await call('PATCH', '/username', { username: 'Countess' });
  expect(await envelope()).toMatchObject({ fullName: 'Ada Lovelace', locale: 'en-GB', username: 'countess' });

  const lines = { recipient: 'Ada Lovelace', line1: '12 St James’s Square', city: 'London', country: 'gb' };
  const address = await call('POST', '/profile/addresses', { kind: 'billing', ...lines });
  expect(address).toMatchObject({ country: 'GB', isDefault: true });
  await call('PATCH', '/profile/addresses', { id: address.id, postalCode: 'SW1Y 4JH' });
  expect((await call('GET', '/profile/addresses?kind=billing')).items).toHaveLength(1);
  const entity = await call('POST', '/profile/entities', {
    legalName: 'Analytical Engines Ltd',
    country: 'GB',
    addressId: address.id,
  });
  await call('PATCH', '/profile/entities', { id: entity.id, taxId: 'GB 123 4567 89' });
  expect((await call('GET', '/profile/entities')).items[0]).toMatchObject({ taxId: 'GB 123 4567 89' });
  await call('DELETE', `/profile/addresses?id=${address.id}`);
  await call('DELETE', '/profile/entities', { id: entity.id });

  await call('POST', '/profile/languages', { code: 'EN', level: 'NATIVE' });
  await call('PATCH', '/profile/languages', { code: 'en', level: 'FLUENT' });
  expect((await call('GET', '/profile/languages')).items).toEqual([{ code: 'en', level: 'FLUENT' }]);
  await call('DELETE', '/profile/languages', { code: 'en' });

  const region = { country: 'GB', uiLocale: 'en-GB', timeZone: 'Europe/London', currency: 'gbp' };
  await call('PUT', '/profile/region', region);
  await call('PATCH', '/profile/region', { measurementSystem: 'metric' });
  expect(await call('GET', '/profile/region')).toMatchObject({ currency: 'GBP', measurementSystem: 'metric' });
  expect((await envelope()).region.timeZone).toBe('Europe/London');
  await call('DELETE', '/profile/region');
  expect((await envelope()).region).toBeNull();

  expect((await call('GET', '/sessions')).items).toMatchObject([{ isCurrent: true }]);
  for (const part of ['passkeys', 'providers', 'devices']) expect((await call('GET', `/${part}`)).items).toEqual([]);
  expect(await call('GET', '')).toMatchObject({ userId: ada.userId, username: 'countess' });

  const proof = await call('POST', '/proof');
  const proved = { challengeId: proof.challengeId, code: await outboxCode(server, 'ada@example.com') };
  await call('POST', '/proof/confirm', proved);
  const change = await call('POST', '/email', { email: 'countess@example.com' });
  const changed = { challengeId: change.challengeId, code: await outboxCode(server, 'countess@example.com') };
  expect(await call('POST', '/email/confirm', changed)).toEqual({ email: 'countess@example.com' });
  expect((await envelope()).email).toBe('countess@example.com');

  const everything = await call('GET', '/export');
  expect(everything.tables.emailAliases).toMatchObject([{ email: 'ada@example.com' }]);

  await call('POST', '/inactivate');
  expect((await envelope()).error).toBe('membership_blocked');
  const again = await signInAgain('countess@example.com');
  expect(again.userId).toBe(ada.userId);
  token = again.token;
  await call('POST', '/leave');
  token = (await signInAgain('countess@example.com')).token;

  // After eight days the change of address can no longer be undone.
  await request(server, 'POST', '/test/clock', { body: { advanceMs: 8 * 24 * 3_600_000 } });
  token = (await signInAgain('countess@example.com')).token;
  const { challengeId, kept } = await call('POST', '/deletion');
  expect(kept.length).toBeGreaterThan(0);
  await call('DELETE', '', { challengeId, code: await outboxCode(server, 'countess@example.com') });
  expect((await envelope()).ok).toBe(false);
});

test('a key of any kind is refused on every operation of the account', async () => {
  const description = await (await fetch(`${server.url}/openapi.yaml?part=all`)).text();
  const { paths } = Bun.YAML.parse(description) as { paths: Record<string, Record<string, unknown>> };
  const refused: unknown[] = [];
  let count = 0;
  for (const [path, methods] of Object.entries(paths))
    for (const method of Object.keys(methods)) {
      if (!path.startsWith('/api/account')) continue;
      count += 1;
      const address = path.replaceAll(/\{\w+\}/g, 'x');
      const { status, json } = await request(server, method.toUpperCase(), address, { token: server.workspaceKey });
      if (status !== 403 || json.error !== 'forbidden') refused.push([method, path, status]);
    }
  expect(refused).toEqual([]);
  expect(count).toBeGreaterThan(40);
});
