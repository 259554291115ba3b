import { describe, expect, test } from 'bun:test';
import en from '@/i18n/locales/en.json';
import type { Answer } from '../../support/instance.ts';
import { fragmentOf } from './browser.ts';
import type { Endpoint } from './hostile-provider.ts';
import { createScene } from './scene.ts';

function expectFailurePage({ status, headers, text }: Answer): void {
  expect([status, headers.get('location')]).toEqual([502, null]);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(text).toContain(en.errors.provider_failed);
  for (const trace of ['    at ', '.ts:', 'ProviderFault', '127.0.0.1']) expect(text).not.toContain(trace);
}

const ANSWERS: [what: string, answer: () => Response][] = [
  ['an error', () => new Response('oops', { status: 500 })],
  ['a redirect', () => new Response(null, { status: 302, headers: { location: 'http://169.254.169.254/' } })],
  ['HTML', () => new Response('<html></html>', { headers: { 'content-type': 'text/html' } })],
  ['JSON that is no object', () => Response.json([1, 2])],
  ['an object without what is asked for', () => Response.json({})],
  ['wrong types', () => Response.json({ issuer: 1, keys: 'x', id_token: {}, jwks_uri: [] })],
  ['more than a quarter of a megabyte', () => new Response(`{"a":"${'x'.repeat(300_000)}"}`)],
  ['bytes that are no text', () => new Response(new Uint8Array([0xff, 0xfe, 0x7b]))],
];

describe('a failing provider', () => {
  test.each(
    (['discovery', 'token', 'keys'] as Endpoint[]).flatMap((endpoint) =>
      ANSWERS.map(([what, answer]) => [endpoint, what, answer] as const),
    ),
  )(
    'a provider whose %s gives %s ends the flow at a page, and works again once it recovers',
    async (endpoint, _, answer) => {
      const scene = await createScene();
      scene.provider.instead[endpoint] = answer;
      expectFailurePage(endpoint === 'discovery' ? await scene.start() : await scene.signIn());
      expect(scene.instance.logLines.join('')).toContain('the identity provider failed');
      expect(scene.count('sessions')).toBe(0);
      delete scene.provider.instead[endpoint];
      expect(fragmentOf(await scene.signIn())['token']).toStartWith('est_');
    },
  );

  test('an unreachable provider ends the flow at a page, at each step', async () => {
    const scene = await createScene();
    const query = await scene.begin();
    await scene.provider.stop();
    expectFailurePage(await scene.comeBack(query));
    const gone = await createScene();
    await gone.provider.stop();
    expectFailurePage(await gone.start());
    expect(gone.instance.logLines.join('')).toContain('OutboundError');
  });

  test.each([
    ['another issuer', { issuer: 'https://accounts.google.com' }],
    ['its issuer with a slash', { issuer: 'http://127.0.0.1/' }],
    ['a plain http endpoint', { token_endpoint: 'http://id.example.com/token' }],
    ['a private endpoint', { jwks_uri: 'https://10.0.0.1/keys' }],
    ['a cloud’s metadata', { jwks_uri: 'http://169.254.169.254/latest' }],
    ['a script as its page', { authorization_endpoint: 'javascript:alert(1)' }],
    ['a file as its keys', { jwks_uri: 'file:///etc/passwd' }],
    ['an endpoint with a fragment', { authorization_endpoint: 'https://id.example.com/#x' }],
    ['no endpoint', { token_endpoint: undefined }],
  ])('a provider with a discovery document that names %s gets no redirect', async (_, metadata) => {
    const scene = await createScene();
    scene.provider.metadata = metadata;
    expectFailurePage(await scene.start());
    expect([scene.provider.asked.keys, scene.count('provider_states')]).toEqual([0, 0]);
  });
});
