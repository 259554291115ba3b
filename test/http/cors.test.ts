/** The operations that pages of other origins may call. */
import { describe, expect, test } from 'bun:test';
import { isForBrowsers } from '@/http/cors.ts';
import { createInstance } from '../support/instance.ts';

const headers = { origin: 'https://shop.example.com' };
const instance = await createInstance();
const { operations } = instance.app;
const address = (path: string) => path.replace(/:\w+/g, 'x');
const allowed = (answer: { headers: Headers }) => answer.headers.get('access-control-allow-origin');
const named = (list: typeof operations) => list.map((operation) => [operation.id, operation] as const);
const open = operations.filter(isForBrowsers);
const ids = open.map(({ id }) => id);

describe('a page of another origin', () => {
  test.each(named(open))('may call %s and read its refusal', async (_, { method, path, access }) => {
    const preflight = await instance.call('OPTIONS', address(path), {
      headers: { ...headers, 'access-control-request-method': method },
    });
    expect([preflight.status, allowed(preflight)]).toEqual([204, '*']);
    expect(preflight.headers.get('access-control-allow-methods')!.split(', ')).toContain(method);
    const requested = preflight.headers.get('access-control-allow-headers')!.split(', ');
    expect(requested).toEqual(expect.arrayContaining(['Authorization', 'Content-Type', 'MCP-Protocol-Version']));
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
    if (access === 'none') return;
    const refused = await instance.call(method, address(path), { headers });
    expect([refused.status, allowed(refused)]).toEqual([401, '*']);
    expect(refused.headers.get('access-control-allow-credentials')).toBeNull();
  });

  test.each(named(operations.filter((operation) => !isForBrowsers(operation))))(
    'may not call %s',
    async (_, { method, path }) => {
      const answer = await instance.call(method, address(path), { headers });
      expect(allowed(answer)).toBeNull();
      const isShared = open.some((other) => other.path === path);
      if (!isShared) expect(allowed(await instance.call('OPTIONS', address(path), { headers }))).toBeNull();
    },
  );

  test('may call everything a browser application needs, and nothing that manages or verifies', () => {
    expect(ids).toEqual(
      expect.arrayContaining([
        ...['sendSignInCode', 'verifySignInCode', 'verifySession', 'signOut', 'listMyRoles', 'getAccount'],
        ...['listAddresses', 'getAuthorizationServerMetadata', 'getRoleManifest'],
      ]),
    );
    const forPeople = operations.filter(
      ({ tag, style, mediaType }) =>
        ['Device grant', 'Sign-in', 'Account'].includes(tag) && style !== 'page' && !mediaType?.startsWith('image/'),
    );
    expect(forPeople.map(({ id }) => id).filter((id) => !ids.includes(id))).toEqual([]);
    expect(open.filter(({ access }) => ['key', 'read', 'full'].includes(access))).toEqual([]);
    expect(ids.filter((id) => ['verifyToken', 'completeSetup', 'introspectToken'].includes(id))).toEqual([]);
  });
});
