/** Clients that register themselves: public ones of the console, where the operator lets them. */
import { describe, expect, test } from 'bun:test';
import { DAY } from '@/core/clock.ts';
import { createInstance, type InstanceOptions } from '../../support/instance.ts';
import { pageBrowser } from '../../attack/page-browser.ts';
import { answerOf, authorizePath, type Changes, formOf, submit } from './authorization-scene.ts';
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
    const code = await issueCodeDirectly(await signIn('owner@example.com'));
    // The person has seen the name that it registered, and no other.
    const answer = await exchange(code, { device_name: 'Command line on laptop' });
    expect(answer.json.access_token).toStartWith('eak_');
    const keys = instance.sqlite.query("SELECT name FROM api_keys WHERE source = 'device'").all();
    expect(keys).toEqual([{ name: 'Coding agent' }]);
    expect(instance.auditKinds()).toContain('openid.client_registered');
  });

  test('takes what Cursor registers, one of whose addresses has a scheme without a period', async () => {
    const instance = await createScene();
    const redirect_uris = [
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'https://www.cursor.com/agents/mcp/oauth/callback',
      'http://localhost:8787/callback',
    ];
    const { status, json } = await instance.call('POST', REGISTER, { body: { ...AGENT, redirect_uris } });
    expect([status, json.redirect_uris]).toEqual([201, redirect_uris]);
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
    ['a scheme without a period', 'vscode://agent/callback'],
    ['another address of a known scheme', 'cursor://another.extension/callback'],
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

test('nobody is sent to the address of a registered client before they have allowed or denied it', async () => {
  const instance = await createScene();
  const [redirect_uri] = AGENT.redirect_uris;
  const { json } = await instance.call('POST', REGISTER, { body: AGENT });
  const path = (changes: Changes) =>
    authorizePath(json.client_id, { redirect_uri, scope: null, nonce: null, ...changes });
  const { console } = await consoleSceneOf(instance, json.client_id);
  const owner = pageBrowser(instance);
  await owner.signIn(console, 'owner@example.com');
  const unasked: Changes[] = [
    { response_type: 'token' },
    { code_challenge: null },
    { prompt: 'none' },
    { resource: 'https://elsewhere.example/mcp' },
    { id_token_hint: 'x.y.z' },
  ];
  for (const browser of [pageBrowser(instance), owner])
    for (const changes of unasked) {
      const { status, headers } = await browser.visit(path(changes));
      expect([changes, status, headers.get('location')]).toEqual([changes, 400, null]);
    }
  const form = formOf(await owner.visit(path({})));
  const denied = await submit(owner, '/oauth/authorize/decision', { ...form, decision: 'deny' });
  expect(answerOf(denied, redirect_uri)).toMatchObject({ error: 'access_denied' });
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
