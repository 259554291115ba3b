import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE } from '../../../src/core/clock.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { auditsOf, databaseOf } from '../beta/records.ts';
import { NO_BRANDING } from './calls.ts';

const setUp = async () => {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const path = `/api/applications/${application.id}`;
  const { workspaceKey: token } = instance;
  return {
    instance,
    application,
    patch: (body: unknown) => instance.call('PATCH', path, { token, body }),
    read: async () => (await instance.call('GET', path, { token })).json.data,
    rolesOf: async (email: string): Promise<string[]> => {
      instance.clock.advance(MINUTE);
      const session = await instance.signIn(application.clientId, email);
      return (await instance.call('POST', '/api/v1/session', { token: session.token })).json.roles;
    },
  };
};

describe('a change of settings', () => {
  test('sets the given fields, keeps the others, and names the changed ones in the audit record', async () => {
    const { instance, application, patch, read } = await setUp();
    const before = await read();
    const audits = auditsOf(instance).length;
    instance.clock.advance(MINUTE);
    const change = {
      name: '  Market ',
      slug: 'market',
      returnUrls: ['https://market.example.com/signed-in'],
      legalUrls: { terms: 'https://market.example.com/terms' },
      branding: { accentColor: '#3b5bdb' },
      signinMethods: ['passkey', 'otp'],
      defaultRoles: ['developer', 'user'],
      sessionTtlSeconds: 3600,
    };
    const answer = await patch(change);
    expect(answer.status).toBe(200);
    expect(answer.json.data).toEqual({
      ...before,
      ...change,
      name: 'Market',
      legalUrls: { terms: 'https://market.example.com/terms', privacy: null, imprint: null },
      branding: { ...NO_BRANDING, accentColor: '#3b5bdb' },
      updatedAt: isoTime(START + MINUTE),
    });
    expect(await read()).toEqual(answer.json.data);
    expect(auditsOf(instance, audits)).toMatchObject([
      {
        kind: 'application.updated',
        applicationId: application.id,
        targetId: application.id,
        detail: { fields: Object.keys(change) },
      },
    ]);

    const cleared = await patch({ legalUrls: { terms: null }, branding: { accentColor: null } });
    expect(cleared.json.data).toEqual({
      ...answer.json.data,
      legalUrls: { terms: null, privacy: null, imprint: null },
      branding: NO_BRANDING,
    });
  });

  test.each([
    [
      'a return URL',
      { name: 'Market', defaultRoles: ['developer'], returnUrls: ['https://a.example.com/', 'nonsense'] },
      'returnUrls.1',
    ],
    ['a role', { name: 'Market', returnUrls: [], defaultRoles: ['user', 'developer', 'nobody'] }, 'defaultRoles.2'],
    ['a method', { name: 'Market', signinMethods: ['otp', 'password'] }, 'signinMethods.1'],
    ['no method', { name: 'Market', signinMethods: [] }, 'signinMethods'],
    ['a method twice', { name: 'Market', signinMethods: ['otp', 'otp'] }, 'signinMethods'],
    ['methods that are no list', { name: 'Market', signinMethods: 'otp' }, 'signinMethods'],
    ['roles that are no list', { name: 'Market', defaultRoles: 'user' }, 'defaultRoles'],
    ['a lifetime too short', { name: 'Market', sessionTtlSeconds: 299 }, 'sessionTtlSeconds'],
    ['a lifetime too long', { name: 'Market', sessionTtlSeconds: 31_536_001 }, 'sessionTtlSeconds'],
    ['a legal URL', { name: 'Market', legalUrls: { terms: 'javascript:alert(1)' } }, 'legalUrls.terms'],
    ['a colour', { name: 'Market', branding: { accentColor: 'red' } }, 'branding.accentColor'],
    ['a slug', { name: 'Market', slug: 'No Slug' }, 'slug'],
    ['a field that has its own operation', { name: 'Market', signinGate: 'closed' }, 'signinGate'],
    ['a field that cannot be set', { name: 'Market', clientId: 'cli_x' }, 'clientId'],
  ])('with an invalid value (%s) names the field and changes nothing', async (_, body, path) => {
    const { instance, patch } = await setUp();
    const before = await databaseOf(instance);
    const answer = await patch(body);
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request']);
    expect(answer.json.fields.map((field: { path: string }) => field.path)).toContain(path);
    for (const value of ['nonsense', 'nobody', 'password', 'javascript', 'No Slug'])
      expect(answer.text).not.toContain(`"${value}`);
    expect(await databaseOf(instance)).toEqual(before);
  });

  test('suggests null in the error of a nullable field', async () => {
    const { patch } = await setUp();
    const { json } = await patch({ branding: { accentColor: 'red' } });
    expect(json.fields).toEqual([{ path: 'branding.accentColor', message: 'Give a colour as #rrggbb, or null.' }]);
  });

  test('to a taken slug is a conflict and changes nothing', async () => {
    const { instance, patch } = await setUp();
    await instance.createApplication({ slug: 'taken' });
    const before = await databaseOf(instance);
    const answer = await patch({ slug: 'taken', name: 'Market', defaultRoles: ['developer'] });
    expect([answer.status, answer.json.error]).toEqual([409, 'conflict']);
    expect(await databaseOf(instance)).toEqual(before);
  });
});

describe('default roles', () => {
  test('are granted to new members only', async () => {
    const { patch, rolesOf } = await setUp();
    expect(await rolesOf('early@example.com')).toEqual(['user']);
    await patch({ defaultRoles: ['developer', 'user'] });
    expect(await rolesOf('ada@example.com')).toEqual(['developer', 'user']);
    await patch({ defaultRoles: [] });
    expect(await rolesOf('bob@example.com')).toEqual([]);
    expect(await rolesOf('early@example.com')).toEqual(['user']);
  });

  test('may be a role created later, but not one of another application', async () => {
    const { instance, application, patch, rolesOf } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const create = (id: string, slug: string) =>
      instance.call('POST', `/api/applications/${id}/roles`, {
        token: instance.workspaceKey,
        body: { slug, name: slug },
      });
    await create(application.id, 'editor');
    await create(other.id, 'foreign');
    expect((await patch({ defaultRoles: ['editor'] })).json.data.defaultRoles).toEqual(['editor']);
    expect(await rolesOf('ada@example.com')).toEqual(['editor']);
    const before = await databaseOf(instance);
    const answer = await patch({ defaultRoles: ['foreign'] });
    expect([answer.status, answer.json.fields[0].path]).toEqual([400, 'defaultRoles.0']);
    expect(await databaseOf(instance)).toEqual(before);
  });
});

describe('sign-in methods', () => {
  const send = (instance: Instance, clientId: string) =>
    instance.call('POST', '/api/v1/auth/otp/send', { body: { email: 'ada@example.com', clientId } });

  test('are all enabled by default, and no code is sent while codes are disabled', async () => {
    const { instance, application, patch, read } = await setUp();
    expect((await read()).signinMethods).toEqual(['otp', 'passkey', 'provider']);
    await patch({ signinMethods: ['passkey'] });
    const before = await databaseOf(instance);
    const refused = await send(instance, application.clientId);
    expect([refused.status, refused.json.success]).toEqual([403, false]);
    expect(await databaseOf(instance)).toEqual(before);
    await patch({ signinMethods: ['otp'] });
    expect((await send(instance, application.clientId)).status).toBe(200);
  });

  test('are checked when the code is verified, not when it is sent', async () => {
    const { instance, application, patch } = await setUp();
    const sent = await send(instance, application.clientId);
    await patch({ signinMethods: ['passkey'] });
    const answer = await instance.call('POST', '/api/v1/auth/otp/verify', {
      body: { challengeId: sent.json.data.challengeId, code: instance.codeFor('ada@example.com') },
    });
    expect([answer.status, answer.json.success]).toEqual([403, false]);
    expect(instance.events(application.id)).toEqual([]);
  });
});

test('a session keeps the lifetime that its application had when it began', async () => {
  const { instance, application, patch } = await setUp();
  await patch({ sessionTtlSeconds: 300 });
  const { token } = await instance.signIn(application.clientId, 'ada@example.com');
  await patch({ sessionTtlSeconds: 31_536_000 });
  instance.clock.advance(300_000 - 1);
  expect((await instance.call('POST', '/api/v1/session', { token })).status).toBe(200);
  instance.clock.advance(1);
  const late = await instance.call('POST', '/api/v1/session', { token });
  expect([late.status, late.json.error]).toEqual([401, 'expired']);
});

test('settings are readable with a read key, and not changeable', async () => {
  const { instance, application } = await setUp();
  const { token } = await instance.createKey(application.id, { access: 'read' });
  const path = `/api/applications/${application.id}`;
  expect((await instance.call('GET', path, { token })).status).toBe(200);
  const before = await databaseOf(instance);
  const answer = await instance.call('PATCH', path, { token, body: { nonsense: true } });
  expect([answer.status, answer.json.error]).toEqual([403, 'admin_scope_required']);
  expect(await databaseOf(instance)).toEqual(before);
});
