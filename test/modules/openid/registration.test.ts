/** Clients that register themselves: public ones of the console, where the operator lets them. */
import { describe, expect, test } from 'bun:test';
import { DAY } from '@/core/clock.ts';
import { createInstance, type InstanceOptions } from '../../support/instance.ts';
import { consoleSceneOf } from './scene.ts';

const REGISTER = '/oauth/register';
const ON = { GATEHOUSE_OPENID_REGISTRATION: 'on' };
const AGENT = { client_name: 'Coding agent', redirect_uris: ['http://127.0.0.1/callback'] };

const createScene = (environment: Record<string, string> = ON, options: InstanceOptions = {}) =>
  createInstance({ ...options, environment });

describe('registration', () => {
  test('makes a public client of the console, whose codes give keys to those who consent', async () => {
    const instance = await createScene();
    const { status, json } = await instance.call('POST', REGISTER, {
      body: { ...AGENT, token_endpoint_auth_method: 'client_secret_basic', grant_types: ['implicit'], scope: 'x' },
    });
    expect([status, json]).toEqual([
      201,
      {
        client_id: expect.stringMatching(/^cli_/),
        client_id_issued_at: instance.clock.now() / 1000,
        client_name: 'Coding agent',
        redirect_uris: AGENT.redirect_uris,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ]);
    const { signIn, issueCodeDirectly, exchange } = await consoleSceneOf(instance, json.client_id);
    const answer = await exchange(await issueCodeDirectly(await signIn('owner@example.com')));
    expect(answer.json.access_token).toStartWith('eak_');
    const keys = instance.sqlite.query("SELECT name FROM api_keys WHERE source = 'device'").all();
    expect(keys).toEqual([{ name: 'Coding agent' }]);
    expect(instance.auditKinds()).toContain('openid.client_registered');
  });

  test('is not there unless the operator has switched it on', async () => {
    const instance = await createScene({});
    const { status, json } = await instance.call('POST', REGISTER, { body: AGENT });
    expect([status, json.error]).toEqual([404, 'not_found']);
    expect(instance.sqlite.query('SELECT count(*) AS n FROM oauth_clients').get()).toEqual({ n: 0 });
  });

  test.each([
    ['a plain http address elsewhere', 'http://agent.example.com/callback'],
    ['a wildcard', 'https://*.example.com/callback'],
    ['a script', 'javascript:alert(1)'],
    ['a fragment', 'https://agent.example.com/callback#x'],
  ])('refuses %s as redirect URI', async (_, uri) => {
    const instance = await createScene();
    const { status, json } = await instance.call('POST', REGISTER, {
      body: { ...AGENT, redirect_uris: ['https://agent.example.com/callback', uri] },
    });
    expect([status, json.error]).toEqual([400, 'invalid_redirect_uri']);
    expect(json.error_description).toStartWith('redirect_uris.1: ');
  });

  test('refuses a client without redirect URIs, with too many, and with a name of several lines', async () => {
    const instance = await createScene();
    const many = Array.from({ length: 11 }, (_, index) => `https://agent.example.com/${index}`);
    for (const body of [{}, { redirect_uris: [] }, { redirect_uris: many }, { ...AGENT, client_name: 'a\nb' }]) {
      const { status, json } = await instance.call('POST', REGISTER, { body });
      expect([status, json.error]).toEqual([400, 'invalid_request']);
    }
  });

  test('is limited by client address', async () => {
    const instance = await createScene({ ...ON, GATEHOUSE_LIMIT_REGISTRATIONS_PER_ADDRESS: '2' });
    const statuses = [];
    for (const _ of [1, 2, 3]) statuses.push((await instance.call('POST', REGISTER, { body: AGENT })).status);
    expect(statuses).toEqual([201, 201, 429]);
  });
});

test('a registered client goes 90 days after its last use', async () => {
  const instance = await createScene();
  const { json } = await instance.call('POST', REGISTER, { body: AGENT });
  const { signIn, issueCodeDirectly, exchange } = await consoleSceneOf(instance, json.client_id);
  instance.clock.advance(89 * DAY);
  expect((await exchange(await issueCodeDirectly(await signIn('owner@example.com')))).status).toBe(200);
  instance.clock.advance(89 * DAY);
  expect((await exchange(await issueCodeDirectly(await signIn('owner@example.com')))).status).toBe(200);
  instance.clock.advance(90 * DAY);
  const code = await issueCodeDirectly(await signIn('owner@example.com'));
  const answer = await exchange(code);
  expect([answer.status, answer.json.error]).toEqual([400, 'invalid_client']);
});
