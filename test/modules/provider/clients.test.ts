import { describe, expect, test } from 'bun:test';
import * as given from '../../support/given.ts';
import { createInstance, type Instance } from '../../support/instance.ts';
import { storedText } from '../../support/stored.ts';
import { createScene, startProvider } from './scene.ts';

const SECRET = 'GOCSPX-hunter2';
const CLIENT = { clientId: 'shop.apps.example', clientSecret: SECRET };
const GOOGLE = 'https://accounts.google.com';
const REDIRECT_URI = 'http://localhost:8080/api/auth/google/callback';
const NONE = { source: null, issuer: null, clientId: null, name: null, speaksFor: null, redirectUri: REDIRECT_URI };

async function setUp(options?: Parameters<typeof createInstance>[0]) {
  const instance = await createInstance(options);
  const { id } = await instance.createApplication();
  const path = `/api/applications/${id}/identity-provider`;
  const call = (method: string, body?: unknown) => instance.call(method, path, { token: instance.workspaceKey, body });
  return { instance, id, call };
}

const kinds = (instance: Instance) => instance.auditKinds().filter((kind) => kind.startsWith('provider.'));

describe('an application’s identity provider', () => {
  test('is its own, else the instance’s, else none', async () => {
    const environment = { GATEHOUSE_GOOGLE_CLIENT_ID: 'instance', GATEHOUSE_GOOGLE_CLIENT_SECRET: 'secret' };
    const { instance, call } = await setUp({ environment });
    const common = { issuer: GOOGLE, speaksFor: 'everyone', redirectUri: REDIRECT_URI };
    const ofInstance = { ...common, source: 'instance', clientId: 'instance', name: 'Google' };
    expect((await call('GET')).json.data).toEqual(ofInstance);
    const own = { ...common, source: 'application', clientId: 'shop.apps.example', name: 'Work account' };
    expect((await call('PUT', { ...CLIENT, name: ' Work account ' })).json.data).toEqual(own);
    expect((await call('GET')).json.data).toEqual(own);
    expect((await call('PUT', { ...CLIENT, issuer: 'https://id.example.com/realm' })).json.data).toMatchObject({
      issuer: 'https://id.example.com/realm',
      name: 'id.example.com',
      speaksFor: 'workspace',
    });
    expect((await call('DELETE')).json.data).toEqual(ofInstance);
    expect((await call('DELETE')).status).toBe(404);
    expect(kinds(instance)).toEqual(['provider.configured', 'provider.configured', 'provider.unconfigured']);
    expect((await (await setUp()).call('GET')).json.data).toEqual(NONE);
  });

  test('keeps its secret sealed: it is in no answer, table or log', async () => {
    const { instance, call } = await setUp();
    const answers = [await call('PUT', CLIENT), await call('GET'), await call('DELETE'), await call('PUT', CLIENT)];
    for (const { status, text } of answers) {
      expect(status).toBe(200);
      expect(text).not.toContain(SECRET);
    }
    expect(storedText(instance)).not.toContain(SECRET);
    expect(instance.logLines.join('')).not.toContain(SECRET);
  });

  test('signs people in with the application’s own client', async () => {
    const scene = await createScene();
    const provider = await startProvider();
    const path = `/api/applications/${scene.application.id}/identity-provider`;
    const body = { ...CLIENT, issuer: provider.issuer };
    await scene.instance.call('PUT', path, { token: scene.instance.workspaceKey, body });
    const location = new URL((await scene.start()).headers.get('location')!);
    expect([location.origin, location.searchParams.get('client_id')]).toEqual([provider.issuer, 'shop.apps.example']);
    provider.claims = { aud: 'shop.apps.example' };
    const landed = await scene.comeBack(provider.agree(location.href));
    expect(landed.headers.get('location')).toContain('#token=est_');
    const credentials = Buffer.from(provider.lastAuthorization!.slice(6), 'base64').toString();
    expect(credentials).toBe(`shop.apps.example:${SECRET}`);
  });

  test.each([
    ['issuer', 'id.example.com'],
    ['issuer', 'http://id.example.com'],
    ['issuer', 'http://localhost:9000'],
    ['issuer', 'https://10.0.0.1'],
    ['issuer', 'https://169.254.169.254'],
    ['issuer', 'https://user:pw@id.example.com'],
    ['issuer', 'https://id.example.com?tenant=1'],
    ['issuer', 'https://id.example.com#x'],
    ['issuer', 'https://id.example.com:22'],
    ['issuer', 'javascript:alert(1)'],
    ['issuer', `https://id.example.com/${'a'.repeat(500)}`],
    ['issuer', ''],
    ['clientId', ''],
    ['clientId', 'with space'],
    ['clientId', 'x'.repeat(501)],
    ['clientSecret', 'line\nbreak'],
    ['clientSecret', 'x'.repeat(2001)],
    ['name', ''],
    ['name', 'two\nlines'],
    ['surprise', 'x'],
  ])('a provider with the %s %j is refused with the field name and changes nothing', async (field, value) => {
    const { instance, call } = await setUp();
    const { status, json } = await call('PUT', { ...CLIENT, [field]: value });
    expect([status, json.error, json.fields.map(({ path }: { path: string }) => path)]).toEqual([
      400,
      'invalid_request',
      [field],
    ]);
    expect(kinds(instance)).toEqual([]);
  });

  test('is trusted everywhere if it is Google’s or the instance’s own, else in its workspace', async () => {
    const environment = {
      GATEHOUSE_GOOGLE_CLIENT_ID: 'instance',
      GATEHOUSE_GOOGLE_CLIENT_SECRET: 'secret',
      GATEHOUSE_GOOGLE_ISSUER: 'https://id.example.com',
    };
    const { instance, call } = await setUp({ environment });
    await given.tenant(instance);
    const put = async (client: object) => (await call('PUT', { ...CLIENT, ...client })).json.data.speaksFor;
    for (const issuer of [
      'https://evil.example',
      'https://id.example.com',
      'https://id.example.com/',
      'https://accounts.google.com.evil.example',
    ])
      expect(await put({ issuer })).toBe('workspace');
    expect(await put({ issuer: 'https://id.example.com/', clientId: 'instance' })).toBe('workspace');
    expect(await put({ issuer: 'https://id.example.com', clientId: 'instance' })).toBe('everyone');
    expect(await put({ issuer: GOOGLE })).toBe('everyone');
  });
});
